/** The summary that an import prints: text or JSON. */

import type { IssuedPassword } from '../auth/devices/device.ts'
import type { RowKindName } from '../ingest/formats/row-kinds.ts'
import { type ImportTotals, rowCount } from './import-files.ts'
import { printable } from './output.ts'

export interface ImportSummary {
  kind: RowKindName
  totals: ImportTotals
  /** All files were read to their end. */
  complete: boolean
  seconds: number
  made: readonly IssuedPassword[]
  passwordsPath: string | undefined
  rejectsPath: string | undefined
}

const rejectsShownMax = 10

export function jsonSummary({ kind, totals, complete, seconds, made, passwordsPath }: ImportSummary): string {
  const { files, accepted, replaced, rejected, rejects } = totals
  const created = passwordsPath === undefined ? made : made.map(({ device }) => ({ device }))
  const rejects_truncated = rejects.length < rejected
  const leftOut = totals.leftOut === 0 ? {} : { left_out: totals.leftOut, left_out_lines: totals.leftOutLines }
  const summary = { complete, accepted, replaced, rejected, files, rejects, rejects_truncated, ...leftOut }
  return `${JSON.stringify({ ...summary, ...(kind === 'readings' ? { created } : {}), seconds })}\n`
}

export function textSummary(summary: ImportSummary): string {
  const { totals, seconds } = summary
  const rows = rowCount(totals)
  const replaced = totals.replaced === 0 ? '' : `, replaced ${totals.replaced}`
  const rate = Math.round(rows / Math.max(0.001, seconds))
  const lines = [
    `stored ${totals.accepted} ${summary.kind}${replaced}, rejected ${totals.rejected}, in ${seconds.toFixed(1)} s (${rate} rows/s)`,
    ...filesWithoutRows(summary),
    ...replacedWarning(summary),
    ...totals.files.flatMap(({ file, notices }) => notices.map(notice => `${file}: ${notice}`)),
    ...ignoredColumns(totals),
    ...leftOutLines(totals),
    ...rejectLines(summary),
    ...passwordLines(summary),
  ]
  return lines.map(line => `${printable(line)}\n`).join('')
}

/** The last file of a stopped import may hold some. */
function filesWithoutRows({ kind, totals, complete }: ImportSummary): string[] {
  const files = complete ? totals.files : totals.files.slice(0, -1)
  return files.filter(file => rowCount(file) === 0).map(({ file }) => `${file}: contains no ${kind}`)
}

const replacedRatioMax = 0.01

function replacedWarning({ kind, totals }: ImportSummary): string[] {
  const { replaced } = totals
  if (replaced <= replacedRatioMax * rowCount(totals)) return []
  const key = kind === 'readings' ? 'device and time' : 'station, parameter, unit and time'
  return [
    `warning: ${replaced} of ${rowCount(totals)} lines replaced a value of the same ${key}; are the times complete?`,
  ]
}

function ignoredColumns({ files }: ImportTotals): string[] {
  return files.flatMap(({ file, ignored_columns, unread_columns }) => {
    const others = ignored_columns.filter(name => !unread_columns.includes(name))
    return [
      ...(others.length > 0 ? [`${file}: ignored columns: ${others.join(', ')}`] : []),
      ...(unread_columns.length > 0
        ? [`${file}: columns with numbers or times that were not read: ${unread_columns.join(', ')}`]
        : []),
    ]
  })
}

function leftOutLines({ leftOut, leftOutLines: lines }: ImportTotals): string[] {
  if (leftOut === 0) return []
  const shown = lines.slice(0, rejectsShownMax).map(({ file, line, device, reason }) => {
    return `  ${file}:${line}: ${device === undefined ? '' : `${device}: `}${reason}`
  })
  const more = leftOut - shown.length
  return [
    `stored ${leftOut} of the readings without values that are out of range:`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ]
}

function rejectLines({ totals, rejectsPath, made }: ImportSummary): string[] {
  if (totals.rejected === 0) return []
  const shown = totals.rejects.slice(0, rejectsShownMax).map(({ file, line, device, sn, reason }) => {
    const name = device ?? sn
    return `  ${file}:${line}: ${name === undefined ? '' : `${name}: `}${reason}`
  })
  const more = totals.rejected - shown.length
  const where = rejectsPath === undefined ? 'use --rejects <file> to get all of them' : `all are in ${rejectsPath}`
  const isUnknown = made.length === 0 && totals.rejects.some(({ code }) => code === 'DEVICE_UNKNOWN')
  return [
    ...shown,
    ...(more > 0 ? [`  and ${more} more; ${where}`] : []),
    ...(isUnknown ? ['  use --create-devices to add unknown devices'] : []),
  ]
}

function passwordLines({ made, passwordsPath }: ImportSummary): string[] {
  if (made.length === 0) return []
  if (passwordsPath !== undefined) return [`added ${made.length} devices; their passwords are in ${passwordsPath}`]
  const width = Math.max(...made.map(({ device }) => device.length))
  return [
    `added ${made.length} devices; these passwords are shown only once:`,
    ...made.map(({ device, password }) => `  ${device.padEnd(width)}  ${password}`),
  ]
}
