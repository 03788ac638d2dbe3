"""The assignment of predicted to golden calls: optimal and deterministic."""

from __future__ import annotations

from collections.abc import Sequence


def best_assignment(gains: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column) of the largest total gain; of several such, the one with the smallest indices.

    Each line of the shorter side gets a partner; in order, each gets the smallest that still allows the largest total.
    Hungarian algorithm with integer potentials, O(n^2 m) for n lines on the shorter side: exact at any size.

    >>> best_assignment([[3, 3], [3, 0], [0, 0]])
    [(0, 1), (1, 0)]
    """
    if not gains or not gains[0]:
        return []
    if len(gains) > len(gains[0]):
        turned = best_assignment(list(zip(*gains, strict=True)))
        return sorted((row, column) for column, row in turned)
    costs = [[-gain for gain in row] for row in gains]
    column_of, row_potential, column_potential = _assign(costs)
    _take_smallest(costs, column_of, row_potential, column_potential)
    return list(enumerate(column_of))


def _assign(costs: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """A cheapest assignment of every row, and potentials with cost >= row + column, equal on the assignment.

    Column potentials are at most 0, and 0 on columns that nobody took.
    """
    n_rows, n_columns = len(costs), len(costs[0])
    infinite = 1 + 8 * (n_rows + 1) * (1 + max(abs(cost) for row in costs for cost in row))
    u, v = [0] * n_rows, [0] * n_columns
    row_of = [-1] * n_columns
    for start in range(n_rows):
        slack, came_from = [infinite] * n_columns, [-1] * n_columns
        open_columns = list(range(n_columns))
        seen: list[int] = []
        row, last = start, -1
        while True:
            costs_of_row, base = costs[row], u[row]
            smallest, nearest = infinite, -1
            for column in open_columns:
                reduced = costs_of_row[column] - base - v[column]
                if reduced < slack[column]:
                    slack[column], came_from[column] = reduced, last
                if slack[column] < smallest:
                    smallest, nearest = slack[column], column
            if smallest:
                u[start] += smallest
                for column in seen:
                    u[row_of[column]] += smallest
                    v[column] -= smallest
                for column in open_columns:
                    slack[column] -= smallest
            open_columns.remove(nearest)
            seen.append(nearest)
            last = nearest
            if row_of[nearest] < 0:
                break
            row = row_of[nearest]
        while last >= 0:
            before = came_from[last]
            row_of[last] = start if before < 0 else row_of[before]
            last = before
    column_of = [-1] * n_rows
    for column, row in enumerate(row_of):
        if row >= 0:
            column_of[row] = column
    return column_of, u, v


def _take_smallest(costs: list[list[int]], column_of: list[int], u: list[int], v: list[int]) -> None:
    """Turn a cheapest assignment into the one of smallest indices, in place.

    By complementary slackness the cheapest assignments are those over tight edges that leave only columns of potential 0
    free. So a row may take a column if a chain of tight exchanges among later rows ends at the column that it gives up.
    """
    n_rows, n_columns = len(costs), len(v)
    tight = [[j for j in range(n_columns) if costs[i][j] == u[i] + v[j]] for i in range(n_rows)]
    rows_at: list[list[int]] = [[] for _ in range(n_columns)]
    for i, columns in enumerate(tight):
        for j in columns:
            rows_at[j].append(i)
    row_of = [-1] * n_columns
    for i, j in enumerate(column_of):
        row_of[j] = i
    for i in range(n_rows):
        current = column_of[i]
        wanted = next(j for j in tight[i] if j == current or row_of[j] < 0 or row_of[j] > i)
        if wanted == current:
            continue
        # Columns that can be emptied in favour of `current`: the row of the column moves to the one that is noted here.
        moves_to = {current: -1}
        queue, frees_unused = [current], False
        for column in queue:
            if v[column] == 0 and not frees_unused:
                frees_unused = True
                for unused in range(n_columns):
                    if row_of[unused] < 0 and unused not in moves_to:
                        moves_to[unused] = column
                        queue.append(unused)
            for row in rows_at[column]:
                if row > i and column_of[row] not in moves_to:
                    moves_to[column_of[row]] = column
                    queue.append(column_of[row])
        column = next(j for j in tight[i] if j in moves_to)
        mover = i  # -1 stands for nobody: then the column stays unused
        while True:
            displaced, row_of[column] = row_of[column], mover
            if mover >= 0:
                column_of[mover] = column
            if column == current:
                break
            mover, column = displaced, moves_to[column]
