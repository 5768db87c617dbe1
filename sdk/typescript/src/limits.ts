/** The limits of the contract, in bytes. */

/** A message from the host. */
export const maxMessageToPlugin = 64 << 20;

/** A message to the host. */
export const maxMessageFromPlugin = 16 << 20;

/** A result; the rest of a message to the host is for what stands around it. */
export const maxResult = maxMessageFromPlugin - (64 << 10);
