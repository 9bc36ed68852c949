/** What is wrong with a body as a whole, thrown by whoever reads it. */

export type BodyFaultCode =
  | 'BODY_BROKEN'
  | 'PAYLOAD_TOO_LARGE'
  | 'TIMEOUT'
  | 'JSON_INVALID'
  | 'CONTENT_UNKNOWN'
  | 'HEADER_INVALID'

export class BodyFault extends Error {
  readonly code: BodyFaultCode

  constructor(code: BodyFaultCode, reason: string) {
    super(reason)
    this.code = code
  }
}

export function tooLarge(bytesMax: number): BodyFault {
  return new BodyFault('PAYLOAD_TOO_LARGE', `the body has more than ${bytesMax} bytes`)
}
