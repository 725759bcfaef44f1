package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Set;

import dev.idempotent.idempotency.IdempotencyConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.operation.OperationTerms;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

/**
 * Looks at start-up for annotations that would have no effect, and for those that ask for
 * what cannot be.
 */
public final class IdempotentMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(IdempotentMethodsCheck.class);

	private static final String REPOSITORY = "org.springframework.data.repository.Repository";

	/**
	 * The bean by which transactions are woven into classes.
	 */
	private static final String WEAVER = "org.springframework.transaction.config.internalTransactionAspect";

	private final IdempotentMethods methods;

	private final ConfigurableListableBeanFactory beans;

	/**
	 * Creates a check.
	 * @param methods knows the annotated methods
	 * @param beans the application
	 */
	public IdempotentMethodsCheck(IdempotentMethods methods, ConfigurableListableBeanFactory beans) {
		this.methods = methods;
		this.beans = beans;
	}

	/**
	 * Checks the methods of all beans, be they created or not.
	 * @return how many annotated methods there are
	 * @throws IdempotencyConfigurationException if one cannot have what it asks for
	 */
	public int check() {
		int found = 0;
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : typeOf(name);
			if (type != null && AnnotationUtils.isCandidateClass(type, Idempotent.class)) {
				found += check(name, type);
			}
		}
		return found;
	}

	private int check(String name, Class<?> type) {
		Set<Method> annotated = MethodIntrospector.selectMethods(type,
				(Method method) -> AnnotatedElementUtils.hasAnnotation(method, Idempotent.class)
						&& this.methods.guaranteeOf(method, type) != null);
		if (annotated.isEmpty()) {
			return 0;
		}
		Object bean = this.beans.containsSingleton(name) ? this.beans.getSingleton(name) : null;
		for (Method method : annotated) {
			checkReach(type, method, bean);
			this.methods.operationOf(type, method);
		}
		SelfInvocations.of(type, annotated)
			.forEach(
					(call) -> logger.warn(
							"{} calls the @Idempotent method {} of its own object, round its proxy: "
									+ "that call runs each time. Call it through another bean",
							call.caller(), call.callee()));
		return annotated.size();
	}

	private void checkReach(Class<?> type, Method method, @Nullable Object bean) {
		String described = OperationTerms.describe(type, method);
		if (isAssignableTo(REPOSITORY, type)) {
			throw unreachable(described, "is one of a Spring Data repository");
		}
		if (Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())) {
			throw unreachable(described, "is private or static");
		}
		if (bean == null ? cannotBeExtended(type) : !isAdvised(bean)) {
			throw unreachable(described, cannotBeExtended(type) ? "is one of a final class"
					: "is one of a bean that was created too early for advice (a post-processor needs it)");
		}
		boolean byInterface = AopUtils.isJdkDynamicProxy(bean);
		if (bean != null && byInterface && !isDeclaredBy(bean, method)) {
			throw unreachable(described, "is in no interface of its bean, which is a proxy of its interfaces");
		}
		if (Modifier.isFinal(method.getModifiers()) && !byInterface) {
			throw unreachable(described, "is final");
		}
		if (this.beans.containsBeanDefinition(WEAVER)) {
			throw unreachable(described, "meets transactions in AspectJ mode, which are inside all advice");
		}
	}

	private @Nullable Class<?> typeOf(String name) {
		Class<?> target = AutoProxyUtils.determineTargetClass(this.beans, name);
		return (target != null) ? ClassUtils.getUserClass(target) : null;
	}

	private static boolean isAdvised(Object bean) {
		return bean instanceof Advised advised
				&& Arrays.stream(advised.getAdvisors()).anyMatch(IdempotentMethodAdvisor.class::isInstance);
	}

	private static boolean cannotBeExtended(Class<?> type) {
		return Modifier.isFinal(type.getModifiers()) || type.isSealed();
	}

	private static boolean isDeclaredBy(Object proxy, Method method) {
		return Arrays.stream(proxy.getClass().getInterfaces())
			.anyMatch((type) -> ClassUtils.hasMethod(type, method.getName(), method.getParameterTypes()));
	}

	private static boolean isAssignableTo(String typeName, Class<?> type) {
		return ClassUtils.getAllInterfacesForClassAsSet(type)
			.stream()
			.anyMatch((implemented) -> implemented.getName().equals(typeName));
	}

	private static IdempotencyConfigurationException unreachable(String described, String why) {
		return OperationTerms.mistake(described, why + ", so it cannot be advised",
				"Annotate a method of another bean that a proxy can stand before, or use IdempotencyTemplate.", null);
	}

}
