/**
 * Reports invalid requests as FastAPI does (`HTTPValidationError`). The schemas of this family raise Pydantic's
 * faults. This file makes the published list of them and removes secrets.
 */

import type { z } from 'zod'
import { mayHoldKey } from '../../../auth/keys/key-text.ts'

/** A fault of one field, with Pydantic's names. */
export interface Fault {
  type: string
  msg: string
  ctx?: Record<string, unknown>
}

export interface ValidationError extends Fault {
  loc: (string | number)[]
  input: unknown
}

export type Place = 'body' | 'path' | 'query'

/** The values of these fields are never sent back, at any depth. */
const secretNames: ReadonlySet<string> = new Set([
  'password',
  'new_password',
  'current_password',
  'token',
  'access_token',
  'refresh_token',
  'device_code',
  'code',
  'state',
  'key',
  'api_key',
  'secret',
])

export const missing: Fault = { type: 'missing', msg: 'Field required' }

export const notAnObject: Fault = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
}

/** Parameters of an issue, as Pydantic has them. */
export interface FaultParameters {
  fault: Fault
  input: unknown
}

export type Checked<Value> = { ok: true; value: Value } | { ok: false; errors: ValidationError[] }

/** Other names of fields, with the field that each stands for. */
export type Aliases = Readonly<Record<string, string>>

export function check<Value>(
  schema: z.ZodType<Value>,
  place: Place,
  input: object,
  aliases: Aliases = {},
): Checked<Value> {
  const { renamed, nameOf } = withoutAliases(input, aliases)
  const parsed = schema.safeParse(renamed)
  if (parsed.success) return { ok: true, value: parsed.data }
  return { ok: false, errors: parsed.error.issues.map(issue => errorOf(issue, place, input, nameOf)) }
}

/** The field's own name takes precedence. An error names the alias that was sent. */
function withoutAliases(input: object, aliases: Aliases) {
  const renamed: Record<string, unknown> = { ...input }
  const used = new Map<string, string>()
  for (const [alias, name] of Object.entries(aliases)) {
    if (Object.hasOwn(renamed, name) || !Object.hasOwn(renamed, alias)) continue
    renamed[name] = renamed[alias]
    used.set(name, alias)
  }
  return { renamed, nameOf: (name: string) => used.get(name) ?? name }
}

function errorOf(
  issue: z.core.$ZodIssue,
  place: Place,
  whole: unknown,
  nameOf: (name: string) => string,
): ValidationError {
  const params = 'params' in issue ? (issue.params as Partial<FaultParameters> | undefined) : undefined
  if (params?.fault === undefined) throw new Error(`a schema raised an issue of another kind: ${issue.code}`)
  const { fault, input } = params
  const loc = [place, ...issue.path.map(step => (typeof step === 'number' ? step : nameOf(String(step))))]
  const isSecret = loc.some(step => typeof step === 'string' && secretNames.has(step))
  // A missing member shows the whole body. A missing parameter shows null.
  const shown = fault.type === 'missing' ? (place === 'body' ? withoutSecrets(whole) : null) : isSecret ? null : input
  return errorAt(loc, fault, withoutSecrets(shown ?? null))
}

/** The order of the members is part of the interface. */
export function errorAt(loc: (string | number)[], { type, msg, ctx }: Fault, input: unknown): ValidationError {
  return { type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) }
}

/** No body of the interface is as deep, and every JSON parser reaches it. */
const depthMax = 20

/** Copies a value without secret members and API keys, at any depth. */
export function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return mayHoldKey(value) ? null : value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= depthMax) return null
  if (Array.isArray(value)) return value.map(element => withoutSecrets(element, depth + 1))
  const shown = Object.entries(value).filter(([name]) => !secretNames.has(name.toLowerCase()) && !mayHoldKey(name))
  return Object.fromEntries(shown.map(([name, member]) => [name, withoutSecrets(member, depth + 1)]))
}
