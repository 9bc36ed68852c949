/** The icon of the tab counts the silent devices. */

const countMax = 99

/** Undefined: nothing is known at the moment. */
export function showIcon(silent: number | undefined): void {
  const link = document.querySelector<HTMLLinkElement>('#icon')
  if (link !== null) link.href = `data:image/svg+xml,${encodeURIComponent(iconOf(silent))}`
}

function iconOf(silent: number | undefined): string {
  const color = silent === undefined ? '#5f5b6e' : silent === 0 ? '#4b3ba8' : '#b3261e'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${color}"/>${signOf(silent)}</svg>`
}

function signOf(silent: number | undefined): string {
  if (silent === 0) return '<path d="M4 19c4-1 5-6 9-6s5 8 9 8 4-6 6-7" fill="none" stroke="#fff" stroke-width="2.5"/>'
  const text = silent === undefined ? '?' : silent > countMax ? `${countMax}+` : String(silent)
  const size = text.length > 2 ? 15 : 20
  return `<text x="16" y="${16 + size * 0.36}" font-family="sans-serif" font-weight="700" font-size="${size}" text-anchor="middle" fill="#fff">${text}</text>`
}
