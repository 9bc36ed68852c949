/** Annotations of devices: who may change them, their changes with an audit row, and their rows with the names of devices and authors. */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { createScopeCheck, type DeviceScope, type ScopedDevice } from '../devices/selector.ts'
import { annotationScopeOf, authorize, type Principal } from '../policy.ts'
import { type Annotation, type AnnotationChange, bounds, isInOrder, type NewAnnotation } from './annotation.ts'

export interface Annotator {
  /** Undefined for the local admin token. */
  readonly account: number | undefined
  /** Devices whose annotations may be changed. */
  readonly scope: DeviceScope
  /** True if annotations of all devices are included. */
  readonly isOfAll: boolean
  /** True if annotations of this device may be changed. */
  may(device: ScopedDevice): boolean
}

/** Undefined without any permission, and before the address of a person is confirmed. */
export function annotatorOf(principal: Principal | undefined): Annotator | undefined {
  if (principal === undefined || authorize('annotations', principal) !== 'allowed') return undefined
  const scope = annotationScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED') return undefined
  const isOfAll = scope.owner === undefined && scope.tags === undefined
  const account = 'account' in principal ? principal.account.id : undefined
  return { account, scope, isOfAll, may: createScopeCheck(scope) }
}

export type AnnotationRefusal = {
  readonly ok: false
  readonly code: 'ANNOTATION_UNKNOWN' | 'DEVICE_UNKNOWN' | 'TOO_MANY_ANNOTATIONS' | 'ORDER_INVALID'
}
type AnnotationOutcome<Value> = { readonly ok: true; readonly value: Value } | AnnotationRefusal

export interface Author {
  /** Undefined for the local admin token. */
  account: number | undefined
  actor: string
}

/** True if the principal may change annotations of this device; null stands for all devices. */
export type MayAnnotate = (device: number | null) => boolean

/** All methods reject like PostgreSQL while it is unavailable. */
export interface Annotations {
  /** Annotations of the device and of all devices within the window, ascending. */
  of(device: number, window: { fromMs?: number | undefined; toMs?: number | undefined }): Promise<Annotation[]>
  /** Newest first, limited to these devices unless undefined. */
  page(
    devices: readonly number[] | undefined,
    page: { limit: number; after?: number | undefined },
  ): Promise<Annotation[]>
  add(annotation: NewAnnotation, device: number | null, by: Author): Promise<AnnotationOutcome<Annotation>>
  change(id: number, change: AnnotationChange, may: MayAnnotate, by: Author): Promise<AnnotationOutcome<Annotation>>
  remove(id: number, may: MayAnnotate, by: Author): Promise<AnnotationOutcome<undefined>>
  /** Deletes annotations of erased devices. Idempotent. */
  forgetErased(devices: readonly number[]): Promise<void>
}

interface AnnotationsOptions {
  pool: pg.Pool
  nowMs: () => number
}

const stepMs = 4_000
// An arbitrary fixed number: "baroanno" in ASCII.
const annotationsLock = '7089073111159434863'
const unknown = { ok: false, code: 'ANNOTATION_UNKNOWN' } as const

export function createAnnotations({ pool, nowMs }: AnnotationsOptions): Annotations {
  /** Changes an existing annotation that the principal may change. */
  function changing<Value>(
    id: number,
    may: MayAnnotate,
    work: (transaction: Transaction, row: AnnotationRow) => Promise<AnnotationOutcome<Value>>,
  ): Promise<AnnotationOutcome<Value>> {
    return inTransaction(pool, { stepMs }, async transaction => {
      const row = await lockAnnotation(transaction, id)
      return row === undefined || !may(row.deviceNumber) ? unknown : await work(transaction, row)
    })
  }

  return {
    async of(device, { fromMs, toMs }) {
      return (await readOfDevice(pool, device, fromMs, toMs)).map(shown)
    },

    async page(devices, page) {
      return (await readPage(pool, devices, page)).map(shown)
    },

    add(annotation, device, { account, actor }) {
      return inTransaction(pool, { stepMs, lock: annotationsLock }, async transaction => {
        if (device !== null && !(await lockDevice(transaction, device))) return { ok: false, code: 'DEVICE_UNKNOWN' }
        if ((await countOfDevice(transaction, device)) >= bounds.perDevice) {
          return { ok: false, code: 'TOO_MANY_ANNOTATIONS' }
        }
        const { from, to, text } = annotation
        const author = account ?? null
        const id = await insertAnnotation(transaction, { device, from, to, text, author, nowMs: nowMs() })
        await audit(transaction, 'add', actor, id, { device: annotation.device, from, to })
        return found(await readAnnotation(transaction, id))
      })
    },

    change(id, change, may, { actor }) {
      return changing(id, may, async (transaction, row) => {
        const { from = row.from, to = row.to, text = row.text } = change
        if (!isInOrder({ from, to })) return { ok: false, code: 'ORDER_INVALID' }
        await saveAnnotation(transaction, { id, from, to, text })
        await audit(transaction, 'change', actor, id, { device: row.device, from, to })
        return found(await readAnnotation(transaction, id))
      })
    },

    remove(id, may, { actor }) {
      return changing(id, may, async (transaction, { device, from, to }) => {
        await deleteAnnotation(transaction, id)
        await audit(transaction, 'remove', actor, id, { device, from, to })
        return { ok: true, value: undefined }
      })
    },

    forgetErased: devices => deleteOfDevices(pool, devices),
  }
}

/** Leaves out the device's number, which is internal. */
function shown({ deviceNumber: _, ...annotation }: AnnotationRow): Annotation {
  return annotation
}

function found(row: AnnotationRow | undefined): AnnotationOutcome<Annotation> {
  return row === undefined ? unknown : { ok: true, value: shown(row) }
}

/** Leaves out the text, which is deleted with the annotation. */
function audit(
  transaction: Transaction,
  what: 'add' | 'change' | 'remove',
  actor: string,
  id: number,
  details: { device: string | null; from: string; to: string | null },
): Promise<void> {
  return writeAudit(transaction, { actor, action: `annotation.${what}`, subject: `annotation ${id}`, details })
}

/** `deviceNumber` is null for all devices. */
interface AnnotationRow extends Annotation {
  deviceNumber: number | null
}

interface Row {
  id: number
  device: number | null
  name: string | null
  from_at: Date
  until_at: Date | null
  text: string
  author: string | null
  written_at: Date
}

/** Annotations of a removed device are hidden: their rows stay until it is erased. */
const selection = `
  SELECT a.id, a.device, d.name, a.from_at, a.until_at, a.text, nullif(c.name, '') AS author, a.written_at
  FROM annotations a LEFT JOIN devices d ON d.number = a.device LEFT JOIN accounts c ON c.id = a.author
  WHERE d.removed_at IS NULL`

function annotationOf({ id, device, name, from_at, until_at, text, author, written_at }: Row): AnnotationRow {
  const at = { from: from_at.toISOString(), to: until_at?.toISOString() ?? null }
  return { id, device: name, deviceNumber: device, ...at, text, by: author, written_at: written_at.toISOString() }
}

/** Annotations of the device and of all devices within the window, ascending. */
async function readOfDevice(
  database: Transaction,
  device: number,
  fromMs: number | undefined,
  toMs: number | undefined,
): Promise<AnnotationRow[]> {
  const { rows } = await database.query<Row>(
    `${selection} AND (a.device = $1 OR a.device IS NULL)
       AND ($2::float8 IS NULL OR coalesce(a.until_at, a.from_at + interval '1 microsecond') > to_timestamp($2::float8 / 1000))
       AND ($3::float8 IS NULL OR a.from_at < to_timestamp($3::float8 / 1000))
     ORDER BY a.from_at, a.id`,
    [device, fromMs ?? null, toMs ?? null],
  )
  return rows.map(annotationOf)
}

/** Newest first, limited to these devices unless undefined. */
async function readPage(
  database: Transaction,
  devices: readonly number[] | undefined,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<AnnotationRow[]> {
  const { rows } = await database.query<Row>(
    `${selection} AND ($1::int[] IS NULL OR a.device = ANY($1::int[])) AND ($2::int IS NULL OR a.id < $2)
     ORDER BY a.id DESC LIMIT $3`,
    [devices === undefined ? null : [...devices], after ?? null, limit],
  )
  return rows.map(annotationOf)
}

async function readAnnotation(database: Transaction, id: number): Promise<AnnotationRow | undefined> {
  const { rows } = await database.query<Row>(`${selection} AND a.id = $1`, [id])
  return rows[0] && annotationOf(rows[0])
}

/** Locks the row until the end of the transaction. */
async function lockAnnotation(transaction: Transaction, id: number): Promise<AnnotationRow | undefined> {
  const { rows } = await transaction.query<Row>(`${selection} AND a.id = $1 FOR UPDATE OF a`, [id])
  return rows[0] && annotationOf(rows[0])
}

/** Keeps the device until the end of the transaction, so that no annotation follows the device's erasure. */
async function lockDevice(transaction: Transaction, device: number): Promise<boolean> {
  const text = 'SELECT FROM devices WHERE number = $1 AND removed_at IS NULL FOR SHARE'
  return (await transaction.query(text, [device])).rowCount === 1
}

async function countOfDevice(transaction: Transaction, device: number | null): Promise<number> {
  const text = 'SELECT count(*)::int AS count FROM annotations WHERE device IS NOT DISTINCT FROM $1::int'
  const { rows } = await transaction.query<{ count: number }>(text, [device])
  return rows[0]?.count ?? 0
}

interface InsertedAnnotation {
  device: number | null
  from: string
  to: string | null
  text: string
  author: number | null
  nowMs: number
}

/** Returns its id. */
async function insertAnnotation(transaction: Transaction, annotation: InsertedAnnotation): Promise<number> {
  const { device, from, to, text, author, nowMs } = annotation
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO annotations (device, from_at, until_at, text, author, written_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000)) RETURNING id`,
    [device, from, to, text, author, nowMs],
  )
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  return row.id
}

async function saveAnnotation(
  transaction: Transaction,
  { id, from, to, text }: Pick<Annotation, 'id' | 'from' | 'to' | 'text'>,
): Promise<void> {
  const values = [id, from, to, text]
  await transaction.query('UPDATE annotations SET from_at = $2, until_at = $3, text = $4 WHERE id = $1', values)
}

async function deleteAnnotation(transaction: Transaction, id: number): Promise<void> {
  await transaction.query('DELETE FROM annotations WHERE id = $1', [id])
}

/** Idempotent. */
async function deleteOfDevices(database: Transaction, devices: readonly number[]): Promise<void> {
  await database.query('DELETE FROM annotations WHERE device = ANY($1::int[])', [[...devices]])
}
