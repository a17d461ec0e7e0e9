#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""poisson RANKS: solves Poisson's equation on a square by conjugate gradients, with
mpi4py. Each rank has some of the rows. The solution is known: a polynomial of degree two
in each direction, for which the differences have no error. Ends with status 1 if the
result is another, or if objects and arrays that are sent around are.
"""

import hashlib
import sys
from array import array

from mpi4py import MPI

SIZE = 32  # rows and columns within the border
TOLERANCE = 1e-9
BYTES = 1 << 20

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
rows = range(SIZE * rank // ranks, SIZE * (rank + 1) // ranks)
above = rank - 1 if rank else MPI.PROC_NULL
below = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL


def exact(row, column):
    x, y = (row + 1) / (SIZE + 1), (column + 1) / (SIZE + 1)
    return x * (1 - x) * y * (1 - y)


def right_side(row, column):
    x, y = (row + 1) / (SIZE + 1), (column + 1) / (SIZE + 1)
    return 2 * (x * (1 - x) + y * (1 - y)) / (SIZE + 1) ** 2


def zeros():
    return array("d", bytes(8 * SIZE))


def apply(field):
    """Four times each value without its neighbours; the border is zero"""
    upper, lower = zeros(), zeros()
    world.Sendrecv(field[0], above, 1, lower, below, 1)
    world.Sendrecv(field[-1], below, 2, upper, above, 2)
    padded = [upper, *field, lower]
    result = []
    for before, row, after in zip(padded, field, padded[2:]):
        wide = [0.0, *row, 0.0]
        result.append(
            array(
                "d",
                (
                    4 * row[k] - wide[k] - wide[k + 2] - before[k] - after[k]
                    for k in range(SIZE)
                ),
            )
        )
    return result


def dot(left, right):
    own = sum(x * y for a, b in zip(left, right) for x, y in zip(a, b))
    return world.allreduce(own)


def plus(left, factor, right):
    return [
        array("d", (x + factor * y for x, y in zip(a, b))) for a, b in zip(left, right)
    ]


def solve():
    rest = [array("d", (right_side(row, k) for k in range(SIZE))) for row in rows]
    solution = [zeros() for _ in rows]
    direction, square = rest, dot(rest, rest)
    steps = 0
    while square > TOLERANCE**4 and steps < SIZE * SIZE:
        image = apply(direction)
        step = square / dot(direction, image)
        solution = plus(solution, step, direction)
        rest = plus(rest, -step, image)
        square, old = dot(rest, rest), square
        direction = plus(rest, square / old, direction)
        steps += 1
    return solution, steps


def block(number):
    return hashlib.shake_128(str(number).encode()).digest(BYTES)


def main():
    good = ranks == int(sys.argv[1])
    solution, steps = solve()
    error = max(
        abs(value - exact(row, k))
        for row, values in zip(rows, solution)
        for k, value in enumerate(values)
    )
    good &= error < TOLERANCE
    texts = world.alltoall([{"from": rank, "to": to} for to in range(ranks)])
    good &= texts == [{"from": other, "to": rank} for other in range(ranks)]
    blocks = bytearray(BYTES * ranks)
    world.Allgather(block(rank), blocks)
    good &= bytes(blocks) == b"".join(block(other) for other in range(ranks))
    good = world.allreduce(good, op=MPI.LAND)
    if not rank:
        print(f"{steps} steps, error {error:.1e}: {'good' if good else 'wrong'}")
    sys.exit(not good)


main()
