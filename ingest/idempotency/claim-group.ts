/** Claims keys for a group of requests with at most two statements: one inserts, one finds what was there before. */

import { hash } from 'node:crypto'
import { bug } from '../../limits/bug.ts'
import type { Ingest } from '../ingest.ts'
import type { Outcome } from '../journal/outcome.ts'
import type { Counts } from './counts.ts'
import type { KeyRow, KeyRows } from './key-rows.ts'

export interface KeyedRequest {
  /** Whose key it is. */
  writer: string
  key: string
  /** SHA-256 of all that has to be alike in two requests with this key. */
  fingerprint: Buffer
  /** Whether its reading has no time of its own. */
  needsStamp: boolean
}

export type ClaimRefusal =
  /** The key belongs to another request. */
  'other request' | 'too many of writer' | 'too many' | 'database away' | Exclude<Outcome, 'stored'>

/** `id` is that of the row, the same for each request with the key until the key expires, also after a restart. */
export type Claim = { kind: 'claimed'; id: string; stampUs: number | undefined } | { kind: ClaimRefusal }

export interface ClaimGroupOptions {
  rows: Pick<KeyRows, 'insert' | 'find'>
  counts: Counts
  ingest: Pick<Ingest, 'reserveStampsUs'>
  nowMs: () => number
  rowsPerWriterMax: number
  /** Of all writers. */
  rowsMax: number
}

const lifetimeMs = 24 * 3_600_000

interface Candidate {
  id: string
  row: KeyRow
  needsStamp: boolean
}

/** What became of each request, in their order. */
export async function claimGroup(requests: readonly KeyedRequest[], options: ClaimGroupOptions): Promise<Claim[]> {
  const { rows, counts, nowMs, rowsPerWriterMax } = options
  await counts.load()
  const expiresMs = nowMs() + lifetimeMs
  const candidates = requests.map(request => candidateOf(request, expiresMs))
  // Of several with one key the first takes the row.
  const distinct = [...new Map(candidates.toReversed().map(each => [each.id, each])).values()].reverse()
  const hasRoom = counts.roomFor(rowsPerWriterMax, options.rowsMax)
  const insertable = distinct.filter(({ row }) => hasRoom(row.writer))
  const outcome = await stamp(insertable, options)
  if (outcome !== undefined) return requests.map(() => ({ kind: outcome }))
  const known = await insert(insertable, options)
  const others = distinct.filter(({ id }) => !known.has(id)).map(({ row }) => row)
  if (others.length > 0) for (const row of await rows.find(others, nowMs())) known.set(idOf(row), row)
  return candidates.map(({ id, row, needsStamp }) => {
    const claim = claimOf(row, known.get(id), counts.of(row.writer) >= rowsPerWriterMax)
    // It would get another stamp when it is sent again, and be stored twice.
    if (claim.kind === 'claimed' && needsStamp && claim.stampUs === undefined) throw bug('a claim has no stamp')
    return claim
  })
}

/** Gives each row that needs one a stamp, or says why the journal gives none. */
async function stamp(
  candidates: readonly Candidate[],
  { ingest }: ClaimGroupOptions,
): Promise<Exclude<Outcome, 'stored'> | undefined> {
  const wanting = candidates.filter(({ needsStamp }) => needsStamp)
  if (wanting.length === 0) return undefined
  const stampsUs = await ingest.reserveStampsUs(wanting.length)
  if (typeof stampsUs === 'string') return stampsUs
  for (const [index, { row }] of wanting.entries()) row.stampUs = stampsUs[index]
  return undefined
}

/** The rows that were not there before, by id. */
async function insert(
  candidates: readonly Candidate[],
  { rows, counts, nowMs }: ClaimGroupOptions,
): Promise<Map<string, KeyRow>> {
  if (candidates.length === 0) return new Map()
  const given = candidates.map(({ row }) => row)
  const inserted = await rows.insert(given, nowMs())
  for (const { writer, isNew } of inserted) if (isNew) counts.add(writer, 1)
  const ids = new Set(inserted.map(idOf))
  return new Map(candidates.filter(({ id }) => ids.has(id)).map(({ id, row }) => [id, row]))
}

function claimOf(row: KeyRow, known: KeyRow | undefined, isWriterFull: boolean): Claim {
  if (known === undefined) return { kind: isWriterFull ? 'too many of writer' : 'too many' }
  if (!known.fingerprint.equals(row.fingerprint)) return { kind: 'other request' }
  return { kind: 'claimed', id: `${idOf(known)} ${known.expiresMs}`, stampUs: known.stampUs }
}

function candidateOf({ writer, key, fingerprint, needsStamp }: KeyedRequest, expiresMs: number): Candidate {
  const row = { writer, keyDigest: hash('sha256', key, 'buffer'), fingerprint, stampUs: undefined, expiresMs }
  return { id: idOf(row), row, needsStamp }
}

function idOf({ writer, keyDigest }: Pick<KeyRow, 'writer' | 'keyDigest'>): string {
  return `${keyDigest.toString('latin1')} ${writer}`
}
