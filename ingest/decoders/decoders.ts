/** Entry point of this folder: the decoders of messages that sensors send in formats of their own, by their families. */

import { airgradient, airrohr, purpleair, thingsboard } from './air-families.ts'
import { createDecoder, type Decode } from './decode.ts'
import { esphome, homeassistant, shelly, tasmota, zigbee2mqtt } from './home-families.ts'
import { chirpstack, rtl433, theengs, thingsStack } from './radio-families.ts'
import { ambient, ecowitt, wunderground } from './weather-families.ts'

const families = [
  zigbee2mqtt,
  tasmota,
  shelly,
  esphome,
  homeassistant,
  theengs,
  rtl433,
  thingsStack,
  chirpstack,
  ecowitt,
  wunderground,
  ambient,
  airrohr,
  airgradient,
  purpleair,
  thingsboard,
]

export const familyNames: readonly string[] = families.map(({ name }) => name)

const decoders = new Map<string, Decode>(families.map(family => [family.name, createDecoder(family)]))

/** Undefined for a name without a family. */
export function decoderOf(family: string): Decode | undefined {
  return decoders.get(family)
}
