/**
 * Declares the operations of this API. Method, address and permission of an operation decide its published contract.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type KeyPrincipal, requirementOf, type StationOperation } from '../../auth/stations/permissions.ts'
import { NewStationFields, type Station } from '../../auth/stations/station.ts'
import { bug } from '../../store/limits/bug.ts'
import type { ErrorEntry } from '../http/errors.ts'
import { hasParameters, type Operation } from '../http/operation.ts'
import { type AirQualityErrorCode, airQualityErrors } from './errors.ts'

export interface OperationInput {
  readonly key: KeyPrincipal
  /** Station of the path's `:sn`. The key is authorized for the operation. */
  readonly station: Station | undefined
  /** Public address of this API, without a final slash. */
  readonly base: string
  /** Requested address, absolute and without its query. */
  readonly url: string
  readonly query: URLSearchParams
  /** Checks the key again after the body has arrived and returns the reason of a refusal. */
  refusal(): Promise<AirQualityErrorCode | undefined>
}

/** The path must have `:sn`. */
export function stationIn({ station }: OperationInput): Station {
  if (station === undefined) throw bug('the path names no station')
  return station
}

export interface AirQualityOperation extends Operation<AirQualityErrorCode> {
  /** `required` and `none` redirect to the other form; `either` accepts both. */
  slash: 'required' | 'none' | 'either'
  /** Permission that the API key needs. */
  permission: StationOperation
  /** Called for a request that is refused or fails before it is handled. `key` is the valid credential, if any. */
  onRefused?(request: FastifyRequest, key: KeyPrincipal | undefined, reason: string): void
  /** The handler of GET answers HEAD, too. */
  handle(asked: OperationInput, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>
}

export type Declared = Omit<AirQualityOperation, 'handle'>

/** Adds the parts of the contract that follow from the method, the path and the permission. */
export function declare(declared: Declared): Declared {
  const { method, path, slash, permission, description, parameters, success, others } = declared
  const { scope, who } = requirementOf(permission)
  const needs = `For ${readers[who] ?? `the ${who}`}; the API key needs the scope ${scope}.`
  const isGet = method === 'GET'
  return {
    ...declared,
    ...(slash === 'required' ? { publishedPath: `${path}/` } : {}),
    description: description === undefined ? needs : `${description} ${needs}`,
    credentials: ['basicKey'],
    scope,
    parameters: { ...parameters, path: pathParameters(path), ...(isGet ? { header: conditions } : {}) },
    success: isGet ? { ...success, headers: etag } : success,
    others: isGet ? { ...others, 304: unchanged } : { ...others },
  }
}

const readers: Record<string, string> = {
  reader: 'everybody with an API key if the device is public, else its owner and administrators',
  'owner or administrator': 'the owner of the device and administrators',
  administrator: 'administrators',
}

const fieldsOfPaths: Record<string, z.ZodType> = {
  sn: NewStationFields.shape.sn.meta({ description: 'Serial number of the device' }),
  id: z.int().min(0).meta({ description: 'Id of the data point' }),
  which: z.string().meta({ description: 'Serial number of a device, or a number' }),
}

function pathParameters(path: string): z.ZodType {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')
  return z.object(Object.fromEntries(names.map(name => [name, fieldsOfPaths[name] ?? z.never()])))
}

const tags = z.string().optional().meta({ description: 'ETags, or *' })
const conditions = z.object({ 'If-None-Match': tags, 'If-Match': tags })

const header = (description: string) => ({ description, schema: { type: 'string' } })
const etag = { ETag: header('Tag of the answer; not with CSV and NDJSON') }
const unchanged = { description: 'If-None-Match has the ETag of this resource', headers: etag }

/** Header of operations that add a record. */
export const location = { Location: header('Address of the new record') }

const ofAll: readonly AirQualityErrorCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'HTTPS_REQUIRED',
  'TOO_MANY_ATTEMPTS',
  'INTERNAL',
  'DATABASE_AWAY',
  'SENDING_TOO_MUCH',
]
const ofBodies: readonly AirQualityErrorCode[] = [
  'JSON_INVALID',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
]

export function refusalsOf(operation: Declared): ErrorEntry[] {
  const { method, path, body, refusals = [] } = operation
  const codes: AirQualityErrorCode[] = [
    ...ofAll,
    ...(hasParameters(operation) ? (['URI_TOO_LONG'] as const) : []),
    ...(/:(sn|which)/.test(path) ? (['STATION_UNKNOWN'] as const) : []),
    ...(method === 'GET' ? (['ETAG_DIFFERENT'] as const) : []),
    ...(body === undefined ? [] : ofBodies),
    ...refusals,
  ]
  return codes.map(code => airQualityErrors[code])
}

export function refusalHeadersOf({ status, retryAfterSeconds }: ErrorEntry): Record<string, unknown> {
  if (status === 401) return { 'WWW-Authenticate': header('Basic realm="Authentication Required"') }
  return retryAfterSeconds === undefined ? {} : { 'Retry-After': header('In seconds') }
}
