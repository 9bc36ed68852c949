/** An operation of an API. Its route, its checks and its page in the contract follow from one declaration. */

import type { RouteHandlerMethod } from 'fastify'
import type { z } from 'zod'
import type { ErrorEntry, ServerErrorCode } from './errors.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `Code` is an error of its family. The family adds the handler. */
export interface Operation<Code extends string = string, Path = unknown, Query = unknown, Body = unknown> {
  method: Method
  /** Path below the prefix of the family, with the router's parameters: `/devices/:name`. */
  path: string
  /** Path in the contract if the router needs another form. */
  publishedPath?: string
  /** Name of the function in generated clients. */
  name: string
  summary: string
  description?: string
  /** Names of alternative security schemes. Without the list, everybody may call it. */
  credentials?: readonly string[]
  /** Scope that an API key needs. */
  scope?: string
  /** Some of its requests need no credential. */
  isCredentialOptional?: boolean
  parameters?: { path?: z.ZodType<Path>; query?: z.ZodType<Query>; header?: z.ZodType }
  body?: RequestBody<Body>
  bodyBytesMax?: number
  success: { status: number; description: string; headers?: Record<string, unknown> } & Representation
  /** Further successful responses. */
  others?: Record<number, { description: string; headers?: Record<string, unknown> } & Representation>
  /** Refusals beyond the common ones of its kind. */
  refusals?: readonly Code[]
  /** Shape of its errors if it differs from the family's. */
  error?: z.ZodType
}

/** An operation of the server itself, without checks and credentials. */
export interface ServerOperation extends Operation<ServerErrorCode> {
  handler: RouteHandlerMethod
}

/** JSON of a schema, fields of a form, text or bytes of some media types, or any of them, or server-sent events. */
export interface Representation {
  json?: z.ZodType
  form?: z.ZodType
  text?: readonly string[]
  bytes?: readonly string[]
  events?: z.ZodType
}

export interface RequestBody<Body = unknown> extends Representation {
  json?: z.ZodType<Body>
  isOptional?: boolean
  /** The handler gets the bytes of JSON and parses them. */
  isRaw?: boolean
  /** Replaces the schema's check if it needs more: older names of fields, pauses between parts of a long body. */
  check?(sent: unknown): Checked<Body> | Promise<Checked<Body>>
}

export type Checked<Value> = { success: true; data: Value } | { success: false; error: Invalid }

export interface Invalid {
  readonly issues: readonly z.core.$ZodIssue[]
}

/** The value is dropped without a schema. */
export function checkPart<Value>(schema: z.ZodType<Value> | undefined, sent: unknown): Checked<Value | undefined> {
  return schema === undefined ? { success: true, data: undefined } : schema.safeParse(sent)
}

/** Checks JSON bodies. The handler reads other bodies. */
export function checkBody<Body>(
  { json, isOptional, check }: RequestBody<Body> = {},
  sent: unknown,
): Checked<Body | undefined> | Promise<Checked<Body | undefined>> {
  const given = sent === undefined && isOptional === true ? {} : sent
  return check === undefined ? checkPart(json, given) : check(given)
}

/** Operations of one API with the common parts of their contract. */
export interface OperationFamily<Declared extends Operation = Operation> {
  /** Example: `/api/admin`. */
  prefix: string
  tag: { name: string; description: string }
  operations: readonly Declared[]
  /** Shape of its errors, with their headers. */
  error: {
    schema: z.ZodType
    mediaType?: string
    text?: readonly string[]
    headersOf?(entry: ErrorEntry): Record<string, unknown>
  }
  /** All refusals of an operation: its own, and the common ones of its kind. */
  refusalsOf(operation: Declared): readonly ErrorEntry[]
  securitySchemes?: Record<string, unknown>
}

/** Paths with parameters may be too long or impossible to decode. */
export function hasParameters({ path }: Operation): boolean {
  return path.includes(':')
}
