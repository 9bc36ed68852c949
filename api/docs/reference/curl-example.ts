/** A request by curl that an operation takes: what is required, with values of the right shape. */

import type { Json, OpenApiDocument, PublishedOperation } from '../contract.ts'
import { capitals, exampleOf } from './example-value.ts'

type ComponentsOf = OpenApiDocument['components']

export function curlExample(
  method: string,
  path: string,
  { parameters = [], requestBody, responses, security = [] }: PublishedOperation,
  { schemas, securitySchemes }: ComponentsOf,
): string {
  const required = parameters.filter(({ required }) => required)
  const query = required
    .filter(each => each.in === 'query')
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, schemas, name)))}`)
  const headers = required.filter(each => each.in === 'header').map(({ name }) => `-H '${name}: ${capitals(name)}'`)
  const address = `"$URL${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => capitals(name))}${query.length === 0 ? '' : `?${query.join('&')}`}"`
  const isStream = Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content)
  const request = ['curl', ...(isStream ? ['-N'] : []), ...(method === 'GET' ? [] : [`-X ${method}`]), address].join(
    ' ',
  )
  const options = [...credentialOf(security, securitySchemes), ...headers, ...bodyOf(requestBody, schemas)]
  const line = [request, ...options].join(' ')
  return line.length <= lineLengthMax ? line : [request, ...options].join(' \\\n  ')
}

const lineLengthMax = 80

/** The first that a program can have; a cookie where there is no other. */
function credentialOf(security: PublishedOperation['security'], securitySchemes: Json): string[] {
  const names = security.map(scheme => Object.keys(scheme)[0])
  if (names.includes(undefined)) return []
  const schemes = names.map(name => ({ name, scheme: securitySchemes[name as string] as Json }))
  const chosen = schemes.find(({ scheme }) => scheme['in'] !== 'cookie') ?? schemes[0]
  return chosen === undefined ? [] : [credentialText(chosen.name, chosen.scheme)]
}

function credentialText(name: string | undefined, { type, scheme, in: place, name: field }: Json): string {
  if (type === 'http' && scheme === 'basic') return name === 'device' ? '-u DEVICE:PASSWORD' : '-u KEY:'
  if (type === 'http') return "-H 'authorization: Bearer KEY'"
  if (place === 'cookie') return `-b '${field}=SESSION'`
  return name === 'influxToken' ? `-H '${field}: Token KEY'` : `-H '${field}: KEY'`
}

/** JSON as it is, of other types a file. */
function bodyOf(requestBody: PublishedOperation['requestBody'], schemas: Json): string[] {
  if (requestBody?.required !== true) return []
  const { content } = requestBody
  const json = content['application/json']?.schema
  if (json === undefined) return [`-H 'content-type: ${Object.keys(content)[0]}'`, '--data-binary @FILE']
  const text = JSON.stringify(exampleOf(json, schemas, ''))
  return ["-H 'content-type: application/json'", `-d '${text.replaceAll("'", "'\\''")}'`]
}
