package dev.idempotent.testing;

import dev.idempotent.idempotency.Idempotent;

/**
 * Has an annotated method that no proxy of a class in another package can override.
 */
public abstract class PackagePrivateMethod {

	@Idempotent(key = "#id", name = "package-private-method.place")
	String place(String id) {
		return id;
	}

}
