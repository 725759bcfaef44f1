package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AdviceReach;
import dev.idempotent.advice.AnnotatedBeans;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Looks at start-up for annotations that would have no effect, and for those that ask for
 * what cannot be.
 */
public final class IdempotentMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(IdempotentMethodsCheck.class);

	private final IdempotentMethods methods;

	private final ConfigurableListableBeanFactory beans;

	private final AdviceReach reach;

	/**
	 * Creates a check.
	 * @param methods knows the annotated methods
	 * @param beans the application
	 */
	public IdempotentMethodsCheck(IdempotentMethods methods, ConfigurableListableBeanFactory beans) {
		this.methods = methods;
		this.beans = beans;
		this.reach = new AdviceReach(beans, IdempotentMethodAdvisor.class);
	}

	/**
	 * Checks the methods of all beans, be they created or not.
	 * @return how many annotated methods there are
	 * @throws IdempotentConfigurationException if one cannot have what it asks for
	 */
	public int check() {
		int[] found = new int[1];
		new AnnotatedBeans(this.beans, Idempotent.class)
			.visit((name, type, annotated) -> found[0] += check(name, type, annotated));
		return found[0];
	}

	private int check(String name, Class<?> type, Set<Method> candidates) {
		Set<Method> annotated = candidates.stream()
			.filter((method) -> this.methods.guaranteeOf(method, type) != null)
			.collect(Collectors.toSet());
		for (Method method : annotated) {
			checkReach(name, type, method);
			this.methods.operationOf(type, method);
			if (this.reach.isCalledAround(name, method)) {
				logger.warn(
						"{} is called by its container, and its bean is in a circle of beans: where Spring "
								+ "hands it out before its proxy, each call runs. Break the circle, such as with @Lazy",
						OperationTerms.describe(type, method));
			}
		}
		return annotated.size();
	}

	private void checkReach(String name, Class<?> type, Method method) {
		String obstacle = this.reach.obstacle(name, type, method);
		if (obstacle != null) {
			throw OperationTerms.mistake(OperationTerms.describe(type, method), obstacle + ", so it cannot be advised",
					"Annotate a method of another bean that a proxy can stand before, or use IdempotencyTemplate.",
					null);
		}
	}

}
