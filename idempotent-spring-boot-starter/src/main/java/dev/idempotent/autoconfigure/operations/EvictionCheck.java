package dev.idempotent.autoconfigure.operations;

import java.util.Set;

/**
 * Reads by which policies the store evicts keys.
 */
@FunctionalInterface
interface EvictionCheck {

	/**
	 * Reads the policies.
	 * @return empty if the store does not evict keys
	 * @throws RuntimeException if they cannot be read
	 */
	Set<String> policies();

}
