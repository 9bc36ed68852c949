/** Entry point of this folder. Each call reads annotations from PostgreSQL, so that all nodes return the same. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { type Annotation, type AnnotationChange, bounds, isInOrder, type NewAnnotation } from './annotation.ts'
import {
  type AnnotationRow,
  countOfDevice,
  deleteAnnotation,
  deleteOfDevices,
  insertAnnotation,
  lockAnnotation,
  lockDevice,
  readAnnotation,
  readOfDevice,
  readPage,
  saveAnnotation,
} from './annotation-rows.ts'

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

export interface AnnotationsOptions {
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
