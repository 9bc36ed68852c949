/** This API's part of the published contract, made of its paths. */

import { z } from 'zod'
import { requirementOf } from '../../../auth/stations/permissions.ts'
import { NewStationFields } from '../../../auth/stations/station.ts'
import { type Components, createComponents } from '../../docs/components.ts'
import {
  type Content,
  type Contract,
  type Json,
  type Parameter,
  type PublishedOperation,
  type PublishedResponse,
  refusalResponses,
} from '../../docs/contract.ts'
import { type AirQualityErrorCode, airQualityErrors } from '../errors.ts'
import { type Operation, type Path, prefix } from '../paths.ts'
import { typeOf } from '../point-format.ts'
import { AirQualityError } from './answers.ts'

const tag = 'air quality'
const description =
  `The stations of an air-quality network. Requests need HTTPS, except from the machine itself. \`${prefix}/devices\` is the same as` +
  ` \`${prefix}/device\`, HEAD answers as GET does, and a path without the slash at its end is redirected.`

const securitySchemes = {
  basicKey: { type: 'http', scheme: 'basic', description: 'An API key as the user name; the password is ignored.' },
}

export function airQualityContract(paths: readonly Path[]): Contract {
  const components = createComponents()
  const published: Contract['paths'] = {}
  for (const path of paths) {
    const methods = Object.entries(path.methods).map(([method, operation]) => {
      return [method.toLowerCase(), publish(path, method, operation, components)]
    })
    published[publishedPath(path)] = Object.fromEntries(methods)
  }
  return { tags: [{ name: tag, description }], paths: published, schemas: components.schemas, securitySchemes }
}

/** The form of it that is not redirected. */
function publishedPath({ url, slash }: Path): string {
  return `${prefix}${url.replaceAll(/:(\w+)/g, '{$1}')}${slash === 'required' ? '/' : ''}`
}

function publish(
  { url }: Path,
  method: string,
  { permission, published }: Operation,
  components: Components,
): PublishedOperation {
  const { name, summary, query, body } = published
  const { scope, who } = requirementOf(permission)
  const parameters = [
    ...components.parameters(pathParameters(url), 'path'),
    ...components.parameters(query, 'query'),
    ...(method === 'GET' ? conditions : []),
  ]
  const needs = `For ${readers[who] ?? `the ${who}`}; the API key needs the scope ${scope}.`
  return {
    tags: [tag],
    summary,
    description: published.description === undefined ? needs : `${published.description} ${needs}`,
    operationId: name,
    security: [{ basicKey: [scope] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(components.reference(body, 'input')) } }),
    responses: { ...successOf(published, method, components), ...refusalsOf(url, published, method, components) },
  }
}

const readers: Record<string, string> = {
  reader: 'everybody with an API key if the device is public, else its owner and administrators',
  'owner or administrator': 'the owner of the device and administrators',
  administrator: 'administrators',
}

const fieldsOfPaths: Record<string, z.ZodType> = {
  sn: NewStationFields.shape.sn.meta({ description: 'Serial number of the device' }),
  id: z.int().min(0).meta({ description: 'Of the data point' }),
  which: z.string().meta({ description: 'Serial number of a device, or a number' }),
}

function pathParameters(url: string): z.ZodType {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')
  return z.object(Object.fromEntries(names.map(name => [name, fieldsOfPaths[name] ?? z.never()])))
}

const conditions: Parameter[] = ['If-None-Match', 'If-Match'].map(name => ({
  name,
  in: 'header',
  required: false,
  schema: { type: 'string' },
  description: 'ETags, or *',
}))

function successOf(
  { success }: Operation['published'],
  method: string,
  components: Components,
): Record<string, PublishedResponse> {
  const headers = { ...(method === 'GET' ? etag : {}), ...(success.location === true ? location : {}) }
  const lines: Content =
    success.lines === true ? Object.fromEntries(lineTypes.map(type => [type, { schema: { type: 'string' } }])) : {}
  const response: PublishedResponse = {
    description: success.description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: { ...jsonContent(components.reference(success.schema, 'output')), ...lines },
  }
  const unchanged = { 304: { description: 'If-None-Match has the ETag of this resource', headers: etag } }
  return { [success.status]: response, ...(method === 'GET' ? unchanged : {}) }
}

const lineTypes = [typeOf.csv, typeOf.ndjson].map(type => type.split(';')[0] ?? '')
const header = (description: string): Json => ({ description, schema: { type: 'string' } })
const etag = { ETag: header('Of the answer; not with CSV and NDJSON') }
const location = { Location: header('The address of what was added') }

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

function refusalsOf(
  url: string,
  { body, refusals = [] }: Operation['published'],
  method: string,
  components: Components,
): Record<string, PublishedResponse> {
  const codes: AirQualityErrorCode[] = [
    ...ofAll,
    ...(url.includes(':') ? (['URI_TOO_LONG'] as const) : []),
    ...(/:(sn|which)/.test(url) ? (['STATION_UNKNOWN'] as const) : []),
    ...(method === 'GET' ? (['ETAG_DIFFERENT'] as const) : []),
    ...(body === undefined ? [] : ofBodies),
    ...refusals,
  ]
  const content = jsonContent(components.reference(AirQualityError, 'output'))
  const entries = codes.map(code => airQualityErrors[code]).sort((a, b) => a.status - b.status)
  const responses = refusalResponses(entries, content)
  for (const { status, ...entry } of entries) {
    const response = responses[status]
    if (response !== undefined && 'retryAfterSeconds' in entry) response.headers = retryAfter
    if (response !== undefined && status === 401) response.headers = authenticate
  }
  return responses
}

const retryAfter = { 'Retry-After': header('In seconds') }
const authenticate = { 'WWW-Authenticate': header('Basic realm="Authentication Required"') }

function jsonContent(schema: Json): Content {
  return { [typeOf.json]: { schema } }
}
