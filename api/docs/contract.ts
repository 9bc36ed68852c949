/** Builds the published contract (OpenAPI 3.1.0) of the parts of all families. */

export type Json = Record<string, unknown>

/** A family's part of the contract. */
export interface Contract {
  tags: readonly Tag[]
  paths: Record<string, Record<string, PublishedOperation>>
  schemas: Json
  securitySchemes: Json
}

interface Tag {
  name: string
  description: string
}

export interface PublishedOperation extends Json {
  tags: string[]
  summary: string
  description?: string
  operationId: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Content }
  responses: Record<string, PublishedResponse>
  /** Any one of them suffices. An empty list requires none. */
  security: Record<string, string[]>[]
}

export interface Parameter extends Json {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Json
}

export interface PublishedResponse extends Json {
  description: string
  headers?: Json
  content?: Content
}

export type Content = Record<string, { schema: Json }>

export interface OpenApiDocument extends Json {
  openapi: '3.1.0'
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: Tag[]
  paths: Contract['paths']
  components: { schemas: Json; securitySchemes: Json }
}

const contractVersion = '0.1.0'

/**
 * Throws if two families publish the same path, or different components under one name. Without a public address, the
 * server is the address of the document.
 */
export function createOpenApi(contracts: readonly Contract[], publicUrl = '/'): OpenApiDocument {
  const schemas: Json = {}
  const securitySchemes: Json = {}
  const paths: OpenApiDocument['paths'] = {}
  for (const contract of contracts) {
    for (const [name, schema] of Object.entries(contract.schemas)) addOnce(schemas, name, schema)
    for (const [name, scheme] of Object.entries(contract.securitySchemes)) addOnce(securitySchemes, name, scheme)
    for (const [path, methods] of Object.entries(contract.paths)) addOnce(paths, path, methods)
  }
  const info = { title: 'Barograph', version: contractVersion }
  const servers = [{ url: publicUrl }]
  // Families of several prefixes may share a tag.
  const tags = new Map(contracts.flatMap(contract => contract.tags).map(tag => [tag.name, tag]))
  return { openapi: '3.1.0', info, servers, tags: [...tags.values()], paths, components: { schemas, securitySchemes } }
}

/** Adding an equal value again is allowed. */
export function addOnce(named: Json, name: string, value: unknown): void {
  if (Object.hasOwn(named, name) && JSON.stringify(named[name]) !== JSON.stringify(value)) {
    throw new Error(`the contract has two different ones of the name ${name}`)
  }
  named[name] = value
}
