/**
 * The write paths of several shards as one. A row without a time of its own gets it first, for with the device it says which shard
 * the row is of.
 */

import { bug } from '../../limits/bug.ts'
import { createDeadLetters, type LetterStore } from '../dead-letters.ts'
import type { Outcome } from '../journal/outcome.ts'
import type { Timed } from '../journal/record.ts'
import type { TableDescription } from '../table.ts'
import { piecesOf, type SharedJournal, type WritePath } from '../write-path.ts'
import { cutRecords, shardsOf } from './cut-records.ts'
import { PositionSum } from './position-sum.ts'
import { firstOf, shardedStatus } from './sharded-status.ts'

export interface ShardedWritePathOptions<Series extends { readonly number: number }, Values extends Timed> {
  table: TableDescription
  /** By the shard's number less 1; they have one stamper. */
  paths: readonly WritePath<Series, Values>[]
  /** The number of the shard, which may be one that has no path here: nothing of it is taken. */
  shardAt: (series: number, timeUs: number) => number
  /** Why it is not known at present what `shardAt` gives. */
  refusal: () => string | undefined
  /** Of all shards. */
  letters: LetterStore
}

/** Takes rows at once. Rejects when a shard cannot be read. */
export async function createShardedWritePath<Series extends { readonly number: number }, Values extends Timed>(
  options: ShardedWritePathOptions<Series, Values>,
): Promise<WritePath<Series, Values>> {
  const { table, paths, shardAt, refusal, letters } = options
  const first = firstPathOf(paths)
  const endsOfAll = () => Promise.all(paths.map(path => path.endOfAll()))
  const positions = new PositionSum(await endsOfAll())

  const pathAt = (shard: number) => (refusal() === undefined ? paths[shard - 1] : undefined)

  async function accept(series: Series, values: Values, reservedUs?: number): Promise<Outcome> {
    const { timestampMs } = values
    const stampUs = timestampMs === undefined ? (reservedUs ?? first.stampUs()) : undefined
    const timeUs = timestampMs === undefined ? stampUs : timestampMs * 1000
    const path = timeUs === undefined ? undefined : pathAt(shardAt(series.number, timeUs))
    return path === undefined ? 'full' : await path.accept(series, values, stampUs)
  }

  async function appendPiece(piece: Uint8Array, term: number): Promise<Outcome> {
    const cut = cutRecords(piece, shardAt).map(({ shard, records }) => ({ path: pathAt(shard), records }))
    // Before anything is stored.
    if (cut.some(({ path }) => path === undefined)) return 'full'
    if (cut.length > 1 && cut.some(({ path }) => path?.status().journal.issue !== undefined)) return 'full'
    return togetherOf(await Promise.all(cut.map(({ path, records }) => path?.append(records, term) ?? 'full')))
  }

  async function append(records: Uint8Array, term = first.term()): Promise<Outcome> {
    for (const piece of piecesOf(records)) {
      const outcome = await appendPiece(piece, term)
      if (outcome !== 'stored') return outcome
    }
    return 'stored'
  }

  return {
    accept,
    append,
    term: first.term,
    shardsOf: records => shardsOf(records, shardAt),
    stampUs: first.stampUs,
    reserveStampsUs: first.reserveStampsUs,
    onStored(listener, onMissed) {
      for (const [at, path] of paths.entries()) path.onStored(records => listener(records, at), onMissed)
    },
    revision: series => paths.reduce((sum, path) => sum + path.revision(series), 0),
    // Transactions are those of one table, and each shard has its own: here all rows count as sent since.
    oldestSentSince: () => Number.NEGATIVE_INFINITY,
    onLost(listener) {
      for (const [at, path] of paths.entries()) path.onLost(reason => listener(`shard ${at + 1}: ${reason}`))
    },
    async erase(seriesNumbers) {
      const erased = await Promise.all(paths.map(path => path.erase(seriesNumbers)))
      return {
        before: positions.at(erased.map(({ before }) => before)),
        damaged: erased.flatMap(({ damaged }) => damaged),
      }
    },
    refuseSeries(numbers) {
      for (const path of paths) path.refuseSeries(numbers)
    },
    shared: sharedOf(paths),
    files: undefined,
    status() {
      const status = shardedStatus(
        paths.map(path => path.status()),
        positions,
      )
      status.journal.issue ??= refusal()
      return status
    },
    endOfAll: async () => positions.at(await endsOfAll()),
    deadLetters: createDeadLetters(table, letters, append),
    async close() {
      await Promise.all(paths.map(path => path.close()))
    },
  }
}

function firstPathOf<Path>([first]: readonly Path[]): Path {
  if (first === undefined) throw bug('there is no shard')
  return first
}

/** Where some shards have stored rows and others have not, nobody may take it for one or the other. */
function togetherOf(outcomes: readonly Outcome[]): Outcome {
  const [refusal] = outcomes.filter(outcome => outcome !== 'stored')
  if (refusal === undefined) return 'stored'
  return outcomes.some(outcome => outcome === 'stored' || outcome === 'unknown') ? 'unknown' : refusal
}

function sharedOf(paths: readonly Pick<WritePath<never, never>, 'shared'>[]): SharedJournal | undefined {
  const journals = paths.flatMap(({ shared }) => shared ?? [])
  if (journals.length < paths.length) return undefined
  return {
    journalIds: journals.flatMap(journal => journal.journalIds),
    nextPositions: () => journals.flatMap(journal => journal.nextPositions()),
    untoldSeconds: () => Math.max(...journals.map(journal => journal.untoldSeconds())),
    issue: () => firstOf(journals, journal => journal.issue()),
    async untilTold(signal) {
      await Promise.all(journals.map(journal => journal.untilTold(signal)))
    },
  }
}
