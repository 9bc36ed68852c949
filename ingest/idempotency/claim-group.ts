/** Claims keys for a group of requests with at most two statements: one inserts, one reads existing rows. */

import { hash } from 'node:crypto'
import { bug } from '../../store/limits/bug.ts'
import type { Ingest } from '../ingest.ts'
import type { Outcome } from '../journal/outcome.ts'
import type { Inserted, KeyRow, KeyRows, Room } from './key-rows.ts'

export interface KeyedRequest {
  /** Owner of the key. */
  writer: string
  key: string
  /** SHA-256 of everything that must match in two requests with this key. */
  fingerprint: Buffer
  /** The reading has no time. */
  needsStamp: boolean
}

export type ClaimRefusal =
  /** The key belongs to another request. */
  'other request' | 'too many of writer' | 'too many' | 'database away' | Exclude<Outcome, 'stored'>

export interface ClaimedKey {
  kind: 'claimed'
  /** Id of the row: equal for each request with the key until the key expires, also after a restart. */
  id: string
  stampUs: number | undefined
  row: KeyRow
}

export type Claim = ClaimedKey | { kind: ClaimRefusal }

export interface ClaimGroupOptions extends Room {
  rows: Pick<KeyRows, 'insert' | 'find'>
  ingest: Pick<Ingest, 'reserveStampsUs'>
  nowMs: () => number
}

const lifetimeMs = 24 * 3_600_000

interface Candidate {
  id: string
  row: KeyRow
  needsStamp: boolean
}

/** Outcome of each request, in their order. */
export async function claimGroup(requests: readonly KeyedRequest[], options: ClaimGroupOptions): Promise<Claim[]> {
  const { rows, nowMs } = options
  const expiresMs = nowMs() + lifetimeMs
  const candidates = requests.map(request => candidateOf(request, expiresMs))
  // The first one of several requests with one key takes the row.
  const distinct = [...new Map(candidates.toReversed().map(each => [each.id, each])).values()].reverse()
  const outcome = await stamp(distinct, options)
  if (outcome !== undefined) return requests.map(() => ({ kind: outcome }))
  const given = distinct.map(({ row }) => row)
  const inserted = await rows.insert(given, options, nowMs())
  const outcomes = new Map(inserted.map(each => [idOf(each), each.outcome]))
  const isClaimed = ({ id }: Candidate) => outcomes.get(id) === 'claimed'
  const known = new Map(distinct.filter(isClaimed).map(({ id, row }) => [id, row]))
  const others = distinct.filter(({ id }) => !outcomes.has(id)).map(({ row }) => row)
  if (others.length > 0) for (const row of await rows.find(others, nowMs())) known.set(idOf(row), row)
  return candidates.map(({ id, row, needsStamp }) => {
    const claim = claimOf(row, known.get(id), outcomes.get(id))
    // A retry would get another stamp, and be stored twice.
    if (claim.kind === 'claimed' && needsStamp && claim.stampUs === undefined) throw bug('a claim has no stamp')
    return claim
  })
}

/** Assigns a stamp to each row that needs one, or returns why the journal refuses. */
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

function claimOf(row: KeyRow, known: KeyRow | undefined, outcome: Inserted['outcome'] | undefined): Claim {
  // The row expired or was removed between the two statements.
  if (known === undefined) return { kind: outcome === 'too many of writer' ? outcome : 'too many' }
  if (!known.fingerprint.equals(row.fingerprint)) return { kind: 'other request' }
  return { kind: 'claimed', id: `${idOf(known)} ${known.expiresMs}`, stampUs: known.stampUs, row: known }
}

function candidateOf({ writer, key, fingerprint, needsStamp }: KeyedRequest, expiresMs: number): Candidate {
  const keyDigest = hash('sha256', key, 'buffer')
  const row = { writer, keyDigest, fingerprint, stampUs: undefined, expiresMs, storedAs: undefined }
  return { id: idOf(row), row, needsStamp }
}

function idOf({ writer, keyDigest }: Pick<KeyRow, 'writer' | 'keyDigest'>): string {
  return `${keyDigest.toString('latin1')} ${writer}`
}
