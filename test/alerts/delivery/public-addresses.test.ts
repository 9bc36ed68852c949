import fc from 'fast-check'
import { test } from 'tap'
import { isInNetworks, isPublicAddress, networksOf } from '../../../alerts/delivery/targets.ts'

const notPublic = `0.0.0.0 10.255.255.255 100.64.0.1 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 172.31.255.255
  192.0.0.170 192.168.1.1 198.19.255.255 224.0.0.251 239.255.255.250 255.255.255.255
  :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe 64:ff9b::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::1
  100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 fc00::1 fd12:3456::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1 4000::1
  2606:4700::1111%eth0 localhost 1.2.3`.split(/\s+/)

test('addresses of loopback, private, link-local and multicast networks are not public', async t => {
  for (const address of [...notPublic, '']) t.notOk(isPublicAddress(address), address)
})

test('other addresses are public, also within IPv6', async t => {
  const all = ['1.1.1.1', '9.9.9.9', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001:81b::200e']
  for (const address of [...all, '::ffff:1.1.1.1', '64:ff9b::101:101']) t.ok(isPublicAddress(address), address)
})

test('an IPv4 address is judged alike in every notation', async () => {
  fc.assert(
    fc.property(fc.ipV4(), address => {
      const isPublic = isPublicAddress(address)
      return isPublicAddress(`::ffff:${address}`) === isPublic && isPublicAddress(`64:ff9b::${address}`) === isPublic
    }),
  )
})

test('networks and single addresses are allowed', async t => {
  const networks = networksOf(['10.0.0.0/8', '192.168.7.7', 'fd00::/8'])
  for (const address of ['10.1.2.3', '192.168.7.7', 'fd12::1', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3']) {
    t.ok(isInNetworks(networks, address), address)
  }
  for (const address of ['11.0.0.1', '192.168.7.8', 'fe80::1', 'nothing', 'fd12::1%eth0']) {
    t.notOk(isInNetworks(networks, address), address)
  }
})
