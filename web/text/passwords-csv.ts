/** Names and passwords as CSV (RFC 4180): `device,password`, as the command line writes it. */

import type { IssuedPassword } from '../../auth/devices/device.ts'

export function passwordsCsv(issued: readonly IssuedPassword[]): string {
  const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return ['device,password', ...issued.map(({ device, password }) => `${cell(device)},${password}`), ''].join('\n')
}
