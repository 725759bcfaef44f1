package dev.idempotent.advice;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Determines whether calls of a bean's method pass through the advice of an annotation.
 */
final class ProxyEligibility {

	private static final String REPOSITORY = "org.springframework.data.repository.Repository";

	/**
	 * The bean that weaves transactions into classes.
	 */
	private static final String WEAVER = "org.springframework.transaction.config.internalTransactionAspect";

	/**
	 * The bean by which a test replaces beans, for example with mocks, which are never
	 * advised.
	 */
	private static final String BEAN_OVERRIDES = "org.springframework.test.context.bean.override."
			+ "internalBeanOverrideRegistry";

	/**
	 * The annotations of methods that a container calls.
	 */
	private static final List<String> CONTAINER_CALLS = List.of("org.springframework.scheduling.annotation.Scheduled",
			"org.springframework.scheduling.annotation.Schedules",
			"org.springframework.messaging.handler.annotation.MessageMapping");

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Annotation> annotation;

	ProxyEligibility(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation) {
		this.beans = beans;
		this.annotation = annotation;
	}

	/**
	 * Determines why a method of a bean cannot be advised.
	 * @return the reason, as a predicate, or {@code null} if it can be advised
	 */
	@Nullable String obstacle(String beanName, Class<?> type, Method method) {
		Object bean = beanOf(beanName);
		boolean byInterface = AopUtils.isJdkDynamicProxy(bean);
		String obstacle = obstacleOf(type, bean);
		return (obstacle != null) ? obstacle : obstacleOf(type, method, byInterface ? bean : null);
	}

	/**
	 * Determines whether a container may call a method on the target of a proxy: in a
	 * circular reference, Spring may inject the bean before it is proxied.
	 */
	boolean mayBeBypassed(String beanName, Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return CONTAINER_CALLS.stream().anyMatch(annotations::isPresent) && isInCircle(beanName);
	}

	/**
	 * Determines whether other advice is inside of an advisor. A target that differs from
	 * call to call is not known yet.
	 */
	boolean isOvertaken(String beanName, Method method, Advisor advisor) {
		Object bean = beanOf(beanName);
		return bean instanceof Advised advised && advised.getTargetSource().isStatic() && isAdvised(bean)
				&& !InnermostAdvice.isIn(bean, method, advisor::equals);
	}

	private boolean isInCircle(String beanName) {
		Set<String> needed = new HashSet<>();
		Deque<String> open = new ArrayDeque<>(List.of(beanName));
		while (!open.isEmpty()) {
			for (String dependency : this.beans.getDependenciesForBean(open.pop())) {
				if (needed.add(dependency)) {
					open.push(dependency);
				}
			}
		}
		return needed.contains(beanName);
	}

	/**
	 * Finds the instance of a bean, or the product of a factory bean, if it exists.
	 */
	@Nullable Object beanOf(String name) {
		Object bean = this.beans.containsSingleton(name) ? this.beans.getSingleton(name) : null;
		if (bean instanceof FactoryBean<?> factory) {
			return factory.isSingleton() ? this.beans.getBean(name) : null;
		}
		return bean;
	}

	private @Nullable String obstacleOf(Class<?> type, @Nullable Object bean) {
		if (isRepository(type) || (bean != null && isRepository(bean.getClass()))) {
			return "belongs to a Spring Data repository";
		}
		if (type.isHidden()) {
			return "belongs to a lambda, whose class name differs in each process";
		}
		if (this.beans.containsBeanDefinition(WEAVER)) {
			return "runs with transactions in AspectJ mode, which are inside all advice";
		}
		if (isAdvised(bean) || (bean != null && this.beans.containsSingleton(BEAN_OVERRIDES))) {
			return null;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
			return "belongs to a final class";
		}
		if (bean instanceof SpringProxy) {
			return "belongs to a proxy of the application that is frozen, opaque, or around another proxy";
		}
		return (bean == null) ? null
				: "belongs to a bean that was created too early for advice (a bean post-processor depends on it)";
	}

	private static @Nullable String obstacleOf(Class<?> type, Method method, @Nullable Object interfaceProxy) {
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
			return "is private or static";
		}
		if (interfaceProxy != null) {
			return isDeclaredBy(interfaceProxy, type, method) ? null
					: "is not declared by an interface of its bean, which is proxied by its interfaces";
		}
		if (Modifier.isFinal(modifiers)) {
			return "is final";
		}
		return isVisibleIn(type, method) ? null : "is package-private, and the class of its bean is in another package";
	}

	private static boolean isVisibleIn(Class<?> type, Method method) {
		return Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers())
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName());
	}

	private boolean isAdvised(@Nullable Object bean) {
		return bean instanceof Advised advised && (Arrays.stream(advised.getAdvisors()).anyMatch(this::isOfAnnotation)
				|| isAdvised(AopProxyUtils.getSingletonTarget(bean)));
	}

	private boolean isOfAnnotation(Advisor advisor) {
		return advisor instanceof AnnotatedMethodAdvisor<?> annotated && annotated.annotation() == this.annotation;
	}

	/**
	 * An interface may declare the method with type variables.
	 */
	private static boolean isDeclaredBy(Object proxy, Class<?> type, Method method) {
		return Arrays.stream(proxy.getClass().getInterfaces())
			.flatMap((declaring) -> Arrays.stream(declaring.getMethods()))
			.filter((declared) -> declared.getName().equals(method.getName()))
			.anyMatch((declared) -> AopUtils.getMostSpecificMethod(declared, type).equals(method));
	}

	private static boolean isRepository(Class<?> type) {
		return type.getName().equals(REPOSITORY)
				|| Arrays.stream(type.getInterfaces()).anyMatch(ProxyEligibility::isRepository);
	}

}
