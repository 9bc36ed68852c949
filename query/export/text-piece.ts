/** A piece of a table of one device, made of QuestDB's own text of it. */

import { detachBuffers } from '../../limits/detach-buffers.ts'
import type { QuestdbText } from '../questdb/questdb-text.ts'
import { isBuiltIn } from './export-columns.ts'
import type { ExportQueries, Piece } from './export-queries.ts'
import { onlyDevice, textSql } from './export-rows.ts'
import { linePartsOf } from './export-texts.ts'
import { rewriteRows, textHeaderOf, textRowBytesMax } from './text-rows.ts'

/** Undefined where the rows have to be made of numbers: those of other layouts, and where QuestDB gives no such text. */
export async function readTextPiece(
  source: Pick<QuestdbText, 'read'>,
  { layout, stepUs, metrics, rowsMax, fileOffset, ...range }: ExportQueries['piece'],
  names: ReadonlyMap<number, string>,
  signal: AbortSignal,
): Promise<Piece | undefined> {
  if ((layout !== 'csv' && layout !== 'rfc4180') || stepUs !== undefined) return undefined
  if (range.symbols?.length !== 1 || !metrics.every(isBuiltIn)) return undefined
  const name = names.get(onlyDevice(range))
  if (name === undefined) return undefined
  const columns = metrics.map(metric => metric.name)
  const bytesMax = textHeaderOf(columns).length + rowsMax * textRowBytesMax(columns.length)
  const text = await source.read({ sql: textSql({ ...range, columns }, rowsMax), bytesMax }, signal)
  const read = text && rewriteRows(text, columns, linePartsOf(layout, name))
  if (text !== undefined) detachBuffers([text])
  if (read === undefined || read.rows > rowsMax) return undefined
  const { bytes, rows, lastUs } = read
  const nextUs = rows === rowsMax ? lastUs + 1 : undefined
  return { bytes, readingsRead: rows, nextUs, nextOffset: fileOffset + bytes.length }
}
