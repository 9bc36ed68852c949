/** A fault of a whole body, thrown by its reader. */

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
