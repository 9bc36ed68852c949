/** Content files into the listing and out of it by the batch: each is read in a thread and is one transaction. */

import type pg from 'pg'
import { Piscina } from 'piscina'
import type { Transaction } from '../../../store/postgres/transaction.ts'
import { threadLimits } from '../../../store/thread-limits.ts'
import type { ChangedFiles, ImportedFiles } from './answer.ts'
import { mergeFeatureSets } from './feature-sets.ts'
import { type Merged, mergeFiles } from './files.ts'
import { changeNamed, type NameAction } from './named-files.ts'
import { mergeReferences } from './references.ts'
import { transact } from './transaction.ts'
import type { ReadFiles, ReadNames, ReadTask } from './worker.ts'

export type Refused = 'BUSY' | 'CLOSING'

interface ImportAudit {
  actor: string
  action: string
  details: Record<string, number>
}

/** `by` is who asks, for the audit. */
export interface ContentFileImporter {
  /** Resolves when all that is right in a body of NDJSON is stored. */
  importFiles(body: Uint8Array, by: string): Promise<ImportedFiles | Refused>
  /** Resolves when the files that the body names are unpublished or removed. */
  changeNamed(action: NameAction, body: Uint8Array, by: string): Promise<ChangedFiles | Refused>
  close(): Promise<void>
}

export interface ImporterOptions {
  postgres: pg.Pool
  /** Writes what was changed into the audit, in the transaction of the change. */
  audit: (transaction: Transaction, entry: ImportAudit) => Promise<void>
}

/** Each is in memory, and they go into the store one after the other. */
const batchesMax = 4
const idleMsMax = 10_000

export function createContentFileImporter({ postgres, audit }: ImporterOptions): ContentFileImporter {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMsMax,
    maxQueue: batchesMax,
    resourceLimits: threadLimits.contentFilesImport,
  })
  const running = new Set<Promise<unknown>>()
  let isClosing = false

  async function take<Answer>(work: () => Promise<Answer>): Promise<Answer | Refused> {
    if (isClosing) return 'CLOSING'
    if (running.size >= batchesMax) return 'BUSY'
    const batch = work()
    running.add(batch)
    try {
      return await batch
    } finally {
      running.delete(batch)
    }
  }

  /** The thread gets a copy: memory that is handed over is gone here, and a small buffer shares its own with others. */
  async function read<Result>(name: 'readFiles' | 'readNames', body: Uint8Array): Promise<Result> {
    const task: ReadTask = { body: new Uint8Array(body) }
    return await pool.run(task, { name, transferList: [task.body.buffer] })
  }

  async function importFiles(body: Uint8Array, by: string): Promise<ImportedFiles> {
    const files = await read<ReadFiles>('readFiles', body)
    const { accepted, rejected, rejects, ignoredFields: ignored_fields } = files
    const merged =
      accepted === 0 ? { added: 0, changed: 0 } : await transact(postgres, transaction => merge(transaction, files, by))
    return { accepted, rejected, rejects, rejects_truncated: rejects.length < rejected, ...merged, ignored_fields }
  }

  async function merge(transaction: Transaction, files: ReadFiles, actor: string): Promise<Merged> {
    const isReferenceNew = await mergeReferences(transaction, files.references)
    const featureSetIds = await mergeFeatureSets(transaction, files)
    const merged = await mergeFiles(transaction, { rows: files.files, featureSetIds, highestId: files.highestId })
    if (isReferenceNew || merged.added + merged.changed > 0) {
      await audit(transaction, { actor, action: 'import', details: { ...merged } })
    }
    return merged
  }

  async function change(action: NameAction, body: Uint8Array, actor: string): Promise<ChangedFiles> {
    const { accepted, rejected, rejects, names } = await read<ReadNames>('readNames', body)
    const result = await transact(postgres, async transaction => {
      const { changed, unknown } = await changeNamed(transaction, action, names)
      if (changed > 0) await audit(transaction, { actor, action, details: { changed } })
      return { changed, unknown }
    })
    return { accepted, rejected, rejects, rejects_truncated: rejects.length < rejected, ...result }
  }

  return {
    importFiles: (body, by) => take(() => importFiles(body, by)),
    changeNamed: (action, body, by) => take(() => change(action, body, by)),
    async close() {
      isClosing = true
      await Promise.allSettled(running)
      await pool.destroy()
    },
  }
}
