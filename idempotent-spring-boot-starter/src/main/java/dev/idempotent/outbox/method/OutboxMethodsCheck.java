package dev.idempotent.outbox.method;

import java.lang.reflect.Method;
import java.util.Set;

import dev.idempotent.advice.AdviceReach;
import dev.idempotent.advice.AnnotatedBeans;
import dev.idempotent.outbox.TransactionalOutbox;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Looks at start-up for annotations that would have no effect, and for those that ask for
 * what cannot be.
 */
public final class OutboxMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(OutboxMethodsCheck.class);

	private final OutboxMethods methods;

	private final ConfigurableListableBeanFactory beans;

	private final AdviceReach reach;

	/**
	 * Creates a check.
	 * @param methods knows the annotated methods
	 * @param beans the application
	 */
	public OutboxMethodsCheck(OutboxMethods methods, ConfigurableListableBeanFactory beans) {
		this.methods = methods;
		this.beans = beans;
		this.reach = new AdviceReach(beans, OutboxMethodAdvisor.class);
	}

	/**
	 * Checks the methods of all beans, be they created or not.
	 * @return how many annotated methods there are
	 * @throws dev.idempotent.IdempotentConfigurationException if one cannot have what it
	 * asks for
	 */
	public int check() {
		int[] found = new int[1];
		new AnnotatedBeans(this.beans, TransactionalOutbox.class)
			.visit((name, type, annotated) -> found[0] += check(name, type, annotated));
		return found[0];
	}

	private int check(String name, Class<?> type, Set<Method> annotated) {
		annotated.forEach((method) -> check(name, type, method));
		return annotated.size();
	}

	private void check(String name, Class<?> type, Method method) {
		String obstacle = this.reach.obstacle(name, type, method);
		String described = OutboxMethod.describe(type, method);
		if (obstacle != null) {
			throw OutboxMethod.mistake(described, obstacle + ", so it cannot be advised",
					"Annotate a method of another bean that a proxy can stand before, or append with the Outbox.",
					null);
		}
		this.methods.methodOf(type, method);
		if (this.reach.isCalledAround(name, method)) {
			logger.warn(
					"{} is called by its container, and its bean is in a circle of beans: where Spring hands it out "
							+ "before its proxy, no call appends an event. Break the circle, such as with @Lazy",
					described);
		}
	}

}
