/** One operation of an API, declared once: its route, the check of what is sent and its page in the contract are made of it. */

import type { z } from 'zod'
import type { ErrorEntry } from './errors.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `Code` is one of the errors of its family, which adds how an operation is handled. */
export interface Operation<Code extends string = string, Path = unknown, Query = unknown, Body = unknown> {
  method: Method
  /** Below the prefix of the family, with parameters as the router has them: `/devices/:name`. */
  path: string
  /** As the contract has it, where the router needs another form. */
  publishedPath?: string
  /** Of the function in clients that are made of the contract. */
  name: string
  summary: string
  description?: string
  /** Names of security schemes, each of which is enough; without it, everybody may. */
  credentials?: readonly string[]
  /** What an API key needs among them. */
  scope?: string
  /** Some are answered without any. */
  isCredentialOptional?: boolean
  /** Objects of parameters. */
  parameters?: { path?: z.ZodType<Path>; query?: z.ZodType<Query>; header?: z.ZodType }
  body?: RequestBody<Body>
  bodyBytesMax?: number
  success: { status: number; description: string; headers?: Record<string, unknown> } & Representation
  /** Further responses that are no refusals. */
  others?: Record<number, { description: string; headers?: Record<string, unknown> } & Representation>
  /** Beside those that the family has for every operation of its kind. */
  refusals?: readonly Code[]
  /** The shape of its errors, where it is another one than that of the family. */
  error?: z.ZodType
}

/** JSON of a schema, text or bytes of some media types, or any of them; or server-sent events. */
export interface Representation {
  json?: z.ZodType
  text?: readonly string[]
  bytes?: readonly string[]
  /** Of one event. */
  events?: z.ZodType
}

export interface RequestBody<Body = unknown> extends Representation {
  json?: z.ZodType<Body>
  isOptional?: boolean
  /** The handler gets the bytes of JSON, to have them read elsewhere. */
  isRaw?: boolean
  /** Checks what was sent where more than the schema is needed: older names of fields, turns between parts of a long body. */
  check?(sent: unknown): Checked<Body> | Promise<Checked<Body>>
}

export type Checked<Value> = { success: true; data: Value } | { success: false; error: Invalid }

/** What a schema has found. */
export interface Invalid {
  readonly issues: readonly z.core.$ZodIssue[]
}

/** Without a schema nothing is handed on. */
export function checkPart<Value>(schema: z.ZodType<Value> | undefined, sent: unknown): Checked<Value | undefined> {
  return schema === undefined ? { success: true, data: undefined } : schema.safeParse(sent)
}

/** Of a body of JSON; others are for the handler. */
export function checkBody<Body>(
  { json, isOptional, check }: RequestBody<Body> = {},
  sent: unknown,
): Checked<Body | undefined> | Promise<Checked<Body | undefined>> {
  const given = sent === undefined && isOptional === true ? {} : sent
  return check === undefined ? checkPart(json, given) : check(given)
}

/** The operations of one API, with what the contract says of all of them. */
export interface OperationFamily<Declared extends Operation = Operation> {
  /** `/api/admin`. */
  prefix: string
  tag: { name: string; description: string }
  operations: readonly Declared[]
  /** The shape of its errors, and the headers that come with one. */
  error: {
    schema: z.ZodType
    mediaType?: string
    text?: readonly string[]
    headersOf?(entry: ErrorEntry): Record<string, unknown>
  }
  /** All that an operation may be refused with: its own, and those of every operation of its kind. */
  refusalsOf(operation: Declared): readonly ErrorEntry[]
  securitySchemes?: Record<string, unknown>
}

/** Whether a path has parameters, so that one may be too long or impossible to decode. */
export function hasParameters({ path }: Operation): boolean {
  return path.includes(':')
}
