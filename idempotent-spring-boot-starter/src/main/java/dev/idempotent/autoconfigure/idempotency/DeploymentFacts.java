package dev.idempotent.autoconfigure.idempotency;

import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Where applications state what their last start looked like.
 *
 * @param reader reads all attributes, by namespace
 * @param adding adds an attribute that does not exist
 * @param replacing replaces an attribute that still has the given content
 * @param isMissing whether a failure shows that the place does not exist, or is denied
 * @param howToProvide what to do then: a sentence without a full stop
 */
record DeploymentFacts(Supplier<Map<String, Map<String, String>>> reader, Adding adding, Replacing replacing,
		Predicate<RuntimeException> isMissing, String howToProvide) {

	@FunctionalInterface
	interface Adding {

		void add(String namespace, String attribute, String content);

	}

	@FunctionalInterface
	interface Replacing {

		void replace(String namespace, String attribute, String before, String content);

	}

}
