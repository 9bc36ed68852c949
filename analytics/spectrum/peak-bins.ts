/** Bins of a spectrum that may have a cycle: bins that stand out of the background, and the strongest of all. */

import type { Background } from './background.ts'
import { isLocalMaximum, parabolaVertex, type Spectrum } from './periodogram.ts'

/** Four, and a little less for a noisy cycle that fits in exactly four times. */
export const cyclesMin = 3.95
/** Minimum ratio of a cycle's power to the background. */
export const significantRatio = 20
/** The screen's background may lie this much above the true one. */
const screenRatio = significantRatio / 2
/**
 * z follows P except for gaps and the window, which weights the middle of the series more than its ends. So only
 * candidates with at least this share of their largest P are compared by z.
 */
const rivalShare = 0.1
const rivalsMax = 8
/** Slightly more than half the width of the Hann window's main lobe, in 1/T: closer cycles cannot be distinguished. */
const lobeCycles = 2.5

/** True if one of two frequencies is within the main lobe of the other. */
export function isNear(a: number, b: number, cells: number): boolean {
  return Math.abs(a - b) * cells <= lobeCycles
}

/** The bins that may have the largest z where none stands out: local maxima with nearly the largest P. */
export function strongBins(spectrum: Spectrum): number[] {
  const { power } = spectrum
  const from = Math.max(1, Math.floor(lowestBin(spectrum)))
  const strong: number[] = []
  let largest = 0
  for (let bin = from; bin < power.length - 1; bin++) {
    const value = power[bin] as number
    if (value < rivalShare * largest || !isLocalMaximum(power, bin) || !isCycle(spectrum, bin)) continue
    largest = Math.max(largest, value)
    strong.push(bin)
  }
  return strong
    .filter(bin => (power[bin] as number) >= rivalShare * largest)
    .sort((a, b) => (power[b] as number) - (power[a] as number))
    .slice(0, rivalsMax)
}

/**
 * The bins that stand out, largest P first, outside the main lobes of earlier cycles, where only their changes in
 * strength remain.
 */
export function standingOut(
  spectrum: Spectrum,
  background: Background,
  removedFrequencies: readonly number[],
): number[] {
  const { power, size, cells } = spectrum
  const byPower = background
    .standingOut(Math.floor(lowestBin(spectrum)), screenRatio)
    .filter(bin => isCycle(spectrum, bin))
    .filter(bin => !removedFrequencies.some(frequency => isNear(bin / size, frequency, cells)))
    .sort((a, b) => (power[b] as number) - (power[a] as number))
  const chosen: number[] = []
  let powerMin = 0
  for (const bin of byPower) {
    const value = power[bin] as number
    if (chosen.length >= rivalsMax || value < powerMin) break
    if (!(value >= significantRatio * background.at(bin))) continue
    chosen.push(bin)
    powerMin ||= rivalShare * value
  }
  return chosen
}

/** The bin of the slowest searched cycle. */
function lowestBin({ size, cells }: Spectrum): number {
  return (cyclesMin * size) / cells
}

function isCycle(spectrum: Spectrum, bin: number): boolean {
  const lowest = lowestBin(spectrum)
  return bin > lowest + 1 || parabolaVertex(spectrum, bin) >= lowest
}
