package dev.idempotent.autoconfigure.startup;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.Cancels;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.Environment;

/**
 * Finds {@code @Cancels} where it would have no effect. A handler without its protection
 * could run before the action that it cancels.
 */
final class CancelsCheck {

	private final boolean enabled;

	CancelsCheck(Environment environment) {
		this.enabled = Feature.isTrue(Feature.WEB.property(), environment);
	}

	/**
	 * Checks the methods of a bean.
	 * @throws dev.idempotent.IdempotentConfigurationException if an annotation would have
	 * no effect
	 */
	void check(@Nullable Class<?> type) {
		for (AnnotatedMethod method : AnnotatedMethod.findAll(Cancels.class, type)) {
			if (!AnnotatedElementUtils.hasAnnotation(method.method(), Idempotent.class)) {
				throw method.invalid("is not @Idempotent, so @Cancels would have no effect",
						"Add @Idempotent(guarantee = Guarantee.TRANSACTION).", null);
			}
			if (!this.enabled) {
				throw method.invalid("would run unprotected: " + Feature.WEB.property() + " is false",
						"Remove that property, or the annotation.", null);
			}
		}
	}

}
