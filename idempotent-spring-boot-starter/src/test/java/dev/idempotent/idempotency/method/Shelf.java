package dev.idempotent.idempotency.method;

import dev.idempotent.idempotency.Idempotent;

/**
 * An annotated method whose result is a type variable.
 */
abstract class Shelf<T> {

	@Idempotent(key = "#key", name = "inherited")
	public T inherited(String key) {
		return make();
	}

	abstract T make();

	record Article(String name, int number) {
	}

	static class Circle {

		public Circle getSelf() {
			return this;
		}

	}

}
