/** Devices that want a key, and people who decide about them. */

import type { AccountsUnderTest } from '../../support/accounts.ts'

export interface DeviceUnderTest {
  deviceCode: string
  userCode: string
}

type Headers = Record<string, string>

export function createDevices({ ask, cookieOf }: AccountsUnderTest) {
  let addresses = 0
  /** Limits by network hold up nobody who comes from another one each time. */
  const newAddress = () => {
    addresses += 1
    return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
  }

  async function start({ name = 'Agent' } = {}): Promise<DeviceUnderTest> {
    const { status, body, text } = await ask('POST', '/device/start', {
      body: { client_name: name },
      address: newAddress(),
    })
    if (status !== 200) throw new Error(text)
    return { deviceCode: String(body['device_code']), userCode: String(body['user_code']) }
  }

  function poll(deviceCode: unknown) {
    return ask('POST', '/device/poll', { body: { device_code: deviceCode }, address: newAddress() })
  }

  function decide(
    operation: 'info' | 'approve' | 'deny',
    { userCode }: DeviceUnderTest,
    headers: Headers,
    more = {},
    address = newAddress(),
  ) {
    if (operation === 'info') {
      return ask('GET', `/device/info?user_code=${encodeURIComponent(userCode.toWellFormed())}`, { headers, address })
    }
    return ask('POST', `/device/${operation}`, { body: { user_code: userCode, ...more }, headers, address })
  }

  /** Each time a session of its own. */
  async function signIn(id: number): Promise<Headers> {
    const { cookie } = await cookieOf(id)
    return { cookie }
  }

  return { start, poll, decide, signIn, newAddress }
}
