// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mpi: an MPI job whose results are known. Each rank is in a node of its own, and
 * knows what it must receive. Rank 0 prints TAP.
 *
 *   mpi RANKS [FILE]
 *
 * There have to be so many ranks. With FILE, all is repeated until rank 0 finds it.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bytes from short ones, which are copied, to long ones, which are read */
static const int sizes[] = { 0, 1, 100, 8192, 65536, 1000000 };

#define NUM_SIZES ((int)(sizeof(sizes) / sizeof(*sizes)))
#define LARGEST 1000000
#define ELEMENTS 20000 /* for each pair of ranks */

static int rank, ranks, number, failures;

static void result(int good, const char *name)
{
	int all;

	MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	number++;
	failures += !all;
	if (!good)
		printf("# rank %d: %s\n", rank, name);
	if (!rank)
		printf("%sok %d - mpi: %s\n", all ? "" : "not ", number, name);
	fflush(stdout);
}

static uint32_t value(int from, int to, int k)
{
	return from * 1000003u + to * 7919u + k;
}

/* Each rank sends to the next one, and receives from the one before. */
static int ring(uint8_t *out, uint8_t *in)
{
	int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	int good = 1;

	for (int i = 0; i < NUM_SIZES; i++) {
		MPI_Status status;
		int count;

		for (int k = 0; k < sizes[i]; k++) {
			out[k] = value(rank, next, k);
			in[k] = 0;
		}
		MPI_Sendrecv(out, sizes[i], MPI_BYTE, next, i, in, LARGEST,
			     MPI_BYTE, previous, i, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &count);
		good &= count == sizes[i];
		for (int k = 0; k < sizes[i]; k++)
			good &= in[k] == (uint8_t)value(previous, rank, k);
	}
	return good;
}

static int alltoall(void)
{
	size_t size = sizeof(uint32_t) * ELEMENTS * ranks;
	uint32_t *out = malloc(size), *in = calloc(1, size);
	int good = 1;

	for (int to = 0; to < ranks; to++)
		for (int k = 0; k < ELEMENTS; k++)
			out[to * ELEMENTS + k] = value(rank, to, k);
	MPI_Alltoall(out, ELEMENTS, MPI_UINT32_T, in, ELEMENTS, MPI_UINT32_T,
		     MPI_COMM_WORLD);
	for (int from = 0; from < ranks; from++)
		for (int k = 0; k < ELEMENTS; k++)
			good &= in[from * ELEMENTS + k] == value(from, rank, k);
	free(out);
	free(in);
	return good;
}

static int allreduce(void)
{
	static int64_t out[ELEMENTS], in[ELEMENTS];
	int64_t sum = (int64_t)ranks * (ranks - 1) / 2;
	int good = 1;

	for (int k = 0; k < ELEMENTS; k++)
		out[k] = (int64_t)rank * (k + 1);
	MPI_Allreduce(out, in, ELEMENTS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (int k = 0; k < ELEMENTS; k++)
		good &= in[k] == sum * (k + 1);
	return good;
}

/* Each rank puts its number into all others' windows. */
static int put(void)
{
	int *window, good = 1;
	MPI_Win win;

	MPI_Win_allocate(ranks * sizeof(*window), sizeof(*window),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
	for (int k = 0; k < ranks; k++)
		window[k] = -1;
	MPI_Win_fence(0, win);
	for (int to = 0; to < ranks; to++)
		MPI_Put(&rank, 1, MPI_INT, to, rank, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	for (int k = 0; k < ranks; k++)
		good &= window[k] == k;
	MPI_Win_free(&win);
	return good;
}

/* Whether rank 0 has found it */
static int found(const char *file)
{
	int yes = !access(file, F_OK);

	MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return yes;
}

int main(int argc, char **argv)
{
	int good[] = { 1, 1, 1, 1 };
	uint8_t *out = malloc(LARGEST), *in = malloc(LARGEST);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	do {
		good[0] &= ring(out, in);
		good[1] &= alltoall();
		good[2] &= allreduce();
		good[3] &= put();
	} while (argc > 2 && !found(argv[2]));
	result(argc > 1 && ranks == atoi(argv[1]), "a rank in each node");
	result(good[0], "messages of many sizes around a ring");
	result(good[1], "all to all");
	result(good[2], "a sum over all");
	result(good[3], "put");
	MPI_Finalize();
	if (!rank)
		printf("1..%d\n", number);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
