/** Reads the settings of devices from options and from cells of CSV files, by the schemas of `deviceColumns`. */

import { z } from 'zod'
import { type DeviceSetting, deviceColumns, deviceSettings } from '../auth/devices/device.ts'
import { tagsIn } from '../auth/devices/tag.ts'
import type { OptionRow } from './operation-commands.ts'
import { collected, jsonObjectOrNone, namesIn, namesOrNone, numberOrNone, ownerOf } from './option-values.ts'

interface Reader {
  cell: (text: string) => unknown
  option?: ((text: string, before: never) => unknown) | readonly string[]
}

// Other text stays as it is, and the schema reports the expected type.
const number = (cell: string) => (Number.isFinite(Number(cell)) ? Number(cell) : cell)
const truths = new Map([
  ...['true', 'yes', '1'].map(word => [word, true] as const),
  ...['false', 'no', '0'].map(word => [word, false] as const),
])

function json(cell: string): unknown {
  try {
    return JSON.parse(cell)
  } catch {
    return cell
  }
}

/** Lists, and the account that owns a device, which requests also name by its address. */
const readers: { [Field in DeviceSetting]?: Reader } = {
  owner: { cell: number, option: ownerOf },
  metrics: { cell: namesIn, option: namesOrNone },
  tags: { cell: tagsIn, option: collected },
}

function readerOf(field: DeviceSetting): Reader {
  const known = readers[field]
  if (known !== undefined) return known
  const schema: z.ZodType = deviceColumns[field].schema
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : schema
  if (inner instanceof z.ZodNumber) return { cell: number, option: numberOrNone }
  if (inner instanceof z.ZodBoolean) return { cell: cell => truths.get(cell.toLowerCase()) ?? cell }
  if (inner instanceof z.ZodObject) return { cell: json, option: jsonObjectOrNone }
  if (!(inner instanceof z.ZodEnum)) return { cell: cell => cell }
  return { cell: cell => cell, option: [...inner.options, ...(inner === schema ? [] : [noChoice])].map(String) }
}

const noChoice = 'none'

/** Readers of cells by column. */
export const deviceCells: Readonly<Record<string, Reader['cell']>> = Object.fromEntries(
  deviceSettings.map(field => [field, readerOf(field).cell]),
)

const optionsOf = deviceSettings.flatMap(field => {
  const { option = [] }: { option?: readonly string[] } = deviceColumns[field]
  const [flags, description = ''] = option
  return flags === undefined ? [] : [{ field, flags, description }]
})

export const deviceOptions = optionsOf.map(({ field, flags, description }): OptionRow => {
  const { option } = readerOf(field)
  return option === undefined ? [flags, description] : [flags, description, option]
})

/** Fields by the names of their options in snake_case. */
export const deviceFields: Readonly<Record<string, string>> = Object.fromEntries(
  optionsOf.map(({ field, flags }) => [flags.replace(/^--([a-z-]+).*/, '$1').replaceAll('-', '_'), field]),
)

/** A field without a choice becomes null. */
export function withoutChoice(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isNone = (field: string, value: unknown) => value === noChoice && optional.has(field)
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [field, isNone(field, value) ? null : value]),
  )
}

const optional = new Set<string>(
  deviceSettings.filter(field => {
    const { schema }: { schema: z.ZodType } = deviceColumns[field]
    return schema instanceof z.ZodNullable && schema.unwrap() instanceof z.ZodEnum
  }),
)
