/** Entry point of this folder: annotations are read from PostgreSQL at each call, so that all nodes tell the same. */

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

/** Who changes something. */
export interface Author {
  /** Undefined of the local admin token. */
  account: number | undefined
  /** For the audit. */
  actor: string
}

/** Whether who asks may change annotations of this device; null: of all devices. */
export type MayAnnotate = (device: number | null) => boolean

/** All reject as PostgreSQL does when it is away. */
export interface Annotations {
  /** Of a device and of all devices, ascending, as far as they lie in the window. */
  of(device: number, window: { fromMs?: number | undefined; toMs?: number | undefined }): Promise<Annotation[]>
  /** The newest first; only of these devices, unless they are undefined. */
  page(
    devices: readonly number[] | undefined,
    page: { limit: number; after?: number | undefined },
  ): Promise<Annotation[]>
  /** `device`: the number of the one that the annotation names. */
  add(annotation: NewAnnotation, device: number | null, by: Author): Promise<AnnotationOutcome<Annotation>>
  change(id: number, change: AnnotationChange, may: MayAnnotate, by: Author): Promise<AnnotationOutcome<Annotation>>
  remove(id: number, may: MayAnnotate, by: Author): Promise<AnnotationOutcome<undefined>>
  /** Of devices whose readings are erased; may be called again. */
  forgetErased(devices: readonly number[]): Promise<void>
}

export interface AnnotationsOptions {
  pool: pg.Pool
  nowMs: () => number
}

const stepMs = 4_000
// Any fixed number serves; it is "baroanno" in ASCII.
const annotationsLock = '7089073111159434863'
const unknown = { ok: false, code: 'ANNOTATION_UNKNOWN' } as const

export function createAnnotations({ pool, nowMs }: AnnotationsOptions): Annotations {
  /** Of one that is there and that who asks may change. */
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

/** Without the number of its device, which is for us. */
function shown({ deviceNumber: _, ...annotation }: AnnotationRow): Annotation {
  return annotation
}

function found(row: AnnotationRow | undefined): AnnotationOutcome<Annotation> {
  return row === undefined ? unknown : { ok: true, value: shown(row) }
}

/** Without the text, which ends with the annotation. */
function audit(
  transaction: Transaction,
  what: 'add' | 'change' | 'remove',
  actor: string,
  id: number,
  details: { device: string | null; from: string; to: string | null },
): Promise<void> {
  return writeAudit(transaction, { actor, action: `annotation.${what}`, subject: `annotation ${id}`, details })
}
