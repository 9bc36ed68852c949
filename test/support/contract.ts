/** Holds answers to the published contract, by its JSON Schemas. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Content, OpenApiDocument, PublishedOperation } from '../../api/docs/contract.ts'

export interface ContractChecker {
  operation(method: string, path: string): PublishedOperation
  /** What is wrong with it; undefined for what fits. A media type that is not in the content is wrong. */
  fault(content: Content | undefined, mediaType: string, value: unknown): string | undefined
}

export function createContractChecker({ paths, components }: OpenApiDocument): ContractChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  return {
    operation(method, path) {
      const found = paths[path]?.[method.toLowerCase()]
      if (found === undefined) throw new Error(`${method} ${path} is not in the contract`)
      return found
    },
    fault(content, mediaType, value) {
      const schema = content?.[mediaType]?.schema
      if (schema === undefined) return `there is no ${mediaType}`
      const isValid = ajv.validate({ ...schema, components }, value)
      return isValid ? undefined : ajv.errorsText()
    },
  }
}
