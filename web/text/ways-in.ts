/** Ways by which readings arrive: their names, and commands and programs that send a reading of a device. */

import type { Attempt } from '../../api/read/shapes.ts'
import type { IssuedPassword } from '../../auth/devices/device.ts'
import { t } from '../words/words.ts'

export const wayNames: Readonly<Record<Attempt['way'], string>> = {
  put: 'PUT',
  batch: t('Batch'),
  line_protocol: t('Line protocol'),
  mqtt: 'MQTT',
  webhook: 'Webhook',
  import: t('Import of readings'),
  import_points: t('Import of points'),
  air_quality: t('Air quality'),
}

interface Sender extends IssuedPassword {
  /** The service's URL with a slash at its end. */
  url: string
  /** True if readings need both battery values. */
  battery: boolean
}

const sample = { temperature: 21.4, humidity: 48, pressure: 1013.2 }
const sampleOfBattery = { battery_voltage: 3.9, battery_percentage: 80 }

export function curlLine(sender: Sender): string {
  const { url, device, password } = sender
  const credentials = shellText(`${device}:${password}`)
  const body = shellText(JSON.stringify(readingOf(sender)))
  return `curl -u ${credentials} -X PUT -H 'content-type: application/json' -d ${body} ${shellText(`${url}api/log`)}\n`
}

/** One point of the device whose password it is, which need not be named, at the time of its receipt. */
export function lineProtocolLine(sender: Sender): string {
  const { url, device, password } = sender
  const fields = Object.entries(valuesOf(sender)).map(([name, value]) => `${name}=${value}`)
  const address = shellText(`${url}api/v2/write`)
  return `curl -u ${shellText(`${device}:${password}`)} --data-binary ${shellText(`weather ${fields.join(',')}`)} ${address}\n`
}

export function mqttLine(sender: Sender, port: number): string {
  const { url, device, password } = sender
  const credentials = `-u ${shellText(device)} -P ${shellText(password)}`
  const message = `-t ${shellText(`readings/${device}`)} -m ${shellText(JSON.stringify(valuesOf(sender)))}`
  return `mosquitto_pub -h ${new URL(url).hostname} -p ${port} -q 1 ${credentials} ${message}\n`
}

/** The program uses the standard library only. */
export function pythonProgram(sender: Sender): string {
  return `import base64, json, urllib.request

reading = ${JSON.stringify(readingOf(sender))}
${credentialLines(sender, 'base64.b64encode(credentials).decode()')}
request = urllib.request.Request(
    ${JSON.stringify(`${sender.url}api/log`)}, json.dumps(reading).encode(), headers, method="PUT"
)
print(urllib.request.urlopen(request, timeout=15).read().decode())
`
}

/** `requests` is the package of micropython-lib. */
export function microPythonProgram(sender: Sender): string {
  return `import binascii, json, requests

reading = ${JSON.stringify(readingOf(sender))}
${credentialLines(sender, 'binascii.b2a_base64(credentials).decode().strip()')}
answer = requests.put(${JSON.stringify(`${sender.url}api/log`)}, data=json.dumps(reading), headers=headers)
print(answer.text)
answer.close()
`
}

function readingOf(sender: Sender): object {
  return { device: sender.device, ...valuesOf(sender) }
}

function valuesOf({ battery }: Sender): Record<string, number> {
  return { ...sample, ...(battery ? sampleOfBattery : {}) }
}

/** A text in JSON is one in Python, too. */
function credentialLines({ device, password }: Sender, encoded: string): string {
  return `credentials = ${JSON.stringify(`${device}:${password}`)}.encode()
headers = {"Content-Type": "application/json", "Authorization": "Basic " + ${encoded}}`
}

/** Quotes with single quotes, in which a shell expands nothing. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
