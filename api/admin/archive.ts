/** Operations on expired raw readings: their archive, and the confirmation of pending deletion. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { WriteLateAudit } from '../../auth/audit.ts'
import type { Archive } from '../../service/lifecycle/archive/archive.ts'
import type { ArchivedDay, ArchivedFile } from '../../service/lifecycle/archive/archive-records.ts'
import { archivedNames } from '../../service/lifecycle/archive/archived-tables.ts'
import { dayText } from '../../service/lifecycle/retention/expired-days.ts'
import type { Retention } from '../../service/lifecycle/retention/retention.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'

export interface ArchiveRouteOptions {
  archive: Pick<Archive, 'days' | 'fault' | 'restore' | 'dropRestored'>
  audit: WriteLateAudit
}

const daysPerPage = 100

const ListQuery = z.strictObject({
  from: z.iso
    .date()
    .default('1970-01-01')
    .meta({ default: undefined, description: 'The first day; `next` of the page before' }),
})
const FileOfDay = z.strictObject({ day: z.iso.date(), file: z.string().meta({ description: 'As the list has it' }) })
const RestoredDay = z.strictObject({ day: z.iso.date() })

const File = z.object({
  file: z.string(),
  table: z.enum(archivedNames),
  rows: z.int(),
  bytes: z.int(),
  sha256: z.string(),
})
export const ArchivedDays = z.object({
  days: z.array(z.object({ day: z.iso.date(), written_at: z.iso.datetime(), files: z.array(File) })),
  next: z.iso.date().nullable(),
})
export type ArchivedDays = z.infer<typeof ArchivedDays>
/** `fault` is the difference between the file and its note, or null. */
export const Verified = z.object({ file: z.string(), fault: z.string().nullable() })
export const Restored = z.object({ file: z.string(), rows: z.int() })
export const Dropped = z.object({ day: z.iso.date() })

export function archiveOperations({ archive, audit }: ArchiveRouteOptions): AdminOperation[] {
  function fileOperation(
    declared: Pick<AdminOperation, 'path' | 'name' | 'summary' | 'description' | 'success' | 'refusals'>,
    work: (file: ArchivedFile, reply: FastifyReply, actor: string) => Promise<FastifyReply>,
  ): AdminOperation {
    return operation({
      ...declared,
      method: 'POST',
      body: { json: FileOfDay.meta({ id: 'ArchivedFile' }) },
      refusals: ['FILE_NOT_ARCHIVED', ...(declared.refusals ?? [])],
      async handle({ body: { day, file }, actor }, reply) {
        const [found] = await archive.days(Date.parse(day), 1)
        const noted = found?.startMs === Date.parse(day) ? found.files.find(({ key }) => key === file) : undefined
        if (noted === undefined) return sendProblem(reply, 'FILE_NOT_ARCHIVED', { detail: `${file} of ${day}` })
        return await work(noted, reply, actor)
      },
    })
  }

  return [
    operation({
      method: 'GET',
      path: '/archive',
      name: 'admin_list_archive',
      summary: 'Archived days and their files',
      parameters: { query: ListQuery },
      success: { status: 200, description: 'A page of them', json: ArchivedDays.meta({ id: 'ArchivedDays' }) },
      async handle({ query: { from } }, reply) {
        const days = await archive.days(Date.parse(from), daysPerPage + 1)
        const behind = days[daysPerPage]
        const next = behind === undefined ? null : dayText(behind.startMs)
        return reply.send({ days: days.slice(0, daysPerPage).map(dayOf), next } satisfies ArchivedDays)
      },
    }),
    fileOperation(
      {
        path: '/archive/verify',
        name: 'admin_verify_archive',
        summary: 'Compare an archived file with its note',
        description: 'Reads the file: its digest, its rows and its sums.',
        success: { status: 200, description: 'Outcome', json: Verified.meta({ id: 'ArchiveVerified' }) },
      },
      async (noted, reply) => {
        const fault = (await archive.fault(noted)) ?? null
        return reply.send({ file: noted.key, fault } satisfies z.infer<typeof Verified>)
      },
    ),
    fileOperation(
      {
        path: '/archive/restore',
        name: 'admin_restore_archive',
        summary: 'Restore an archived file',
        description: 'Its rows are copied to `readings_restored` or `measurements_restored` in QuestDB.',
        success: { status: 200, description: 'Its rows are restored', json: Restored.meta({ id: 'ArchiveRestored' }) },
        refusals: ['ARCHIVE_FAILED'],
      },
      async (noted, reply, actor) => {
        try {
          await archive.restore(noted)
        } catch (error) {
          return sendProblem(reply, 'ARCHIVE_FAILED', { detail: (error as Error).message })
        }
        await audit({ actor, action: 'archive.restore', subject: noted.key })
        return reply.send({ file: noted.key, rows: rowsOf(noted) } satisfies z.infer<typeof Restored>)
      },
    ),
    operation({
      method: 'POST',
      path: '/archive/drop-restored',
      name: 'admin_drop_restored',
      summary: 'Remove the restored rows of a day',
      body: { json: RestoredDay.meta({ id: 'RestoredDay' }) },
      success: { status: 200, description: 'The rows are removed', json: Dropped.meta({ id: 'RestoredDropped' }) },
      async handle({ body: { day }, actor }, reply) {
        await archive.dropRestored(Date.parse(day))
        await audit({ actor, action: 'archive.drop_restored', subject: day })
        return reply.send({ day } satisfies z.infer<typeof Dropped>)
      },
    }),
  ]
}

function dayOf({ startMs, writtenAt, files }: ArchivedDay): ArchivedDays['days'][number] {
  return {
    day: dayText(startMs),
    written_at: writtenAt.toISOString(),
    files: files.map(file => ({ ...file, file: file.key, rows: rowsOf(file) })).map(file => File.parse(file)),
  }
}

function rowsOf({ sums }: ArchivedFile): number {
  return Number(sums[0])
}

interface RetentionRouteOptions {
  retention: Pick<Retention, 'state' | 'confirm'>
  audit: WriteLateAudit
}

const Confirmation = z.strictObject({
  before: z.iso.date().meta({
    description: 'The days before this one (UTC) may expire: `waiting.before` of the status, or an earlier day',
  }),
})
export const Confirmed = z.object({ before: z.iso.date() })

export function retentionOperation({ retention, audit }: RetentionRouteOptions): AdminOperation {
  return operation({
    method: 'POST',
    path: '/retention/confirm',
    name: 'admin_confirm_retention',
    summary: 'Confirm pending deletion of expired raw readings',
    description: 'Their raw readings are removed within two hours; their hours stay.',
    body: { json: Confirmation.meta({ id: 'RetentionConfirmation' }) },
    success: {
      status: 200,
      description: 'The days before this expire',
      json: Confirmed.meta({ id: 'RetentionConfirmed' }),
    },
    refusals: ['NO_WAITING_DAYS'],
    async handle({ body: { before }, actor }, reply) {
      if (!(await retention.confirm(Date.parse(before)))) {
        return sendProblem(reply, 'NO_WAITING_DAYS', { detail: `no days before ${before} are pending` })
      }
      await audit({ actor, action: 'retention.confirm', subject: before })
      return reply.send({ before } satisfies z.infer<typeof Confirmed>)
    },
  })
}
