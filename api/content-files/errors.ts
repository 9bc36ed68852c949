/** Declares the errors of the content files as in Django REST framework: `{"detail": text, "error_type": type}`. */

import type { ErrorTable } from '../http/errors.ts'
import { argumentsMax } from '../http/parameters.ts'
import { type Answer, answerOf } from './answer.ts'
import type { FilterErrors } from './filters.ts'

export const contentFileErrors = {
  TOO_MANY_ARGUMENTS: {
    status: 400,
    text: `The query string has more than ${argumentsMax} arguments.`,
    type: 'TooManyFieldsSent',
  },
  PATH_UNMATCHED: { status: 404, text: 'The specified resource was not found.', type: 'Http404' },
  FORMAT_UNKNOWN: { status: 404, text: 'Not found.', type: 'Http404' },
  ID_INVALID: { status: 404, text: 'Not found.', type: 'Http404' },
  FILE_UNKNOWN: { status: 404, text: 'No ContentFile matches the given query.', type: 'Http404' },
  NOT_ACCEPTABLE: { status: 406, text: 'Could not satisfy the request Accept header.', type: 'NotAcceptable' },
  INTERNAL: { status: 500, text: 'A server error occurred.', type: 'APIException' },
  UNAVAILABLE: {
    status: 503,
    text: 'Service temporarily unavailable, try again later.',
    type: 'ServiceUnavailable',
    retryAfterSeconds: 5,
  },
} as const satisfies ErrorTable & Record<string, { type: string }>
export type ContentFileErrorCode = keyof typeof contentFileErrors

export function errorAnswer(code: ContentFileErrorCode): Answer {
  const { status, text, type } = contentFileErrors[code]
  return answerOf(status, { detail: text, error_type: type })
}

/** These two name the sent value. */
export function methodNotAllowed(method: string): Answer {
  return answerOf(405, { detail: `Method "${method}" not allowed.`, error_type: 'MethodNotAllowed' })
}

export function invalidFilters(messages: FilterErrors): Answer {
  return answerOf(400, { ...messages, error_type: 'ValidationError' })
}
