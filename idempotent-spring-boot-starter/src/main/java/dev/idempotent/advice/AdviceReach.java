package dev.idempotent.advice;

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
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * Tells whether the calls of a bean's method pass its advice.
 */
public final class AdviceReach {

	private static final String REPOSITORY = "org.springframework.data.repository.Repository";

	/**
	 * The bean by which transactions are woven into classes.
	 */
	private static final String WEAVER = "org.springframework.transaction.config.internalTransactionAspect";

	/**
	 * The bean by which a test replaces beans: with a mock, for instance, which nobody
	 * advises.
	 */
	private static final String REPLACEMENTS = "org.springframework.test.context.bean.override."
			+ "internalBeanOverrideRegistry";

	/**
	 * What says that a container calls a method.
	 */
	private static final List<String> CONTAINERS = List.of("org.springframework.scheduling.annotation.Scheduled",
			"org.springframework.scheduling.annotation.Schedules",
			"org.springframework.messaging.handler.annotation.MessageMapping");

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Advisor> advisor;

	/**
	 * Creates a judge.
	 * @param beans the application
	 * @param advisor what is to advise the methods
	 */
	public AdviceReach(ConfigurableListableBeanFactory beans, Class<? extends Advisor> advisor) {
		this.beans = beans;
		this.advisor = advisor;
	}

	/**
	 * Tells why a method cannot be advised.
	 * @param beanName its bean
	 * @param type the bean's class
	 * @param method the method
	 * @return what it "is", or {@code null} if nothing is in the way
	 */
	public @Nullable String obstacle(String beanName, Class<?> type, Method method) {
		Object bean = beanOf(beanName);
		boolean byInterface = AopUtils.isJdkDynamicProxy(bean);
		String obstacle = obstacleOf(type, bean);
		return (obstacle != null) ? obstacle : obstacleOf(type, method, byInterface ? bean : null);
	}

	/**
	 * Tells whether a container may call a method past its advice: it is given a bean in
	 * a circle as that was before its proxy.
	 * @param beanName the method's bean
	 * @param method the method
	 * @return whether that may be
	 */
	public boolean isCalledAround(String beanName, Method method) {
		MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
		return CONTAINERS.stream().anyMatch(annotations::isPresent) && isInCircle(beanName);
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

	private @Nullable Object beanOf(String name) {
		Object bean = this.beans.containsSingleton(name) ? this.beans.getSingleton(name) : null;
		if (bean instanceof FactoryBean<?> factory) {
			return factory.isSingleton() ? this.beans.getBean(name) : null;
		}
		return bean;
	}

	private @Nullable String obstacleOf(Class<?> type, @Nullable Object bean) {
		if (isRepository(type) || (bean != null && isRepository(bean.getClass()))) {
			return "is one of a Spring Data repository";
		}
		if (type.isHidden()) {
			return "is one of a lambda, whose class has another name in each process";
		}
		if (this.beans.containsBeanDefinition(WEAVER)) {
			return "meets transactions in AspectJ mode, which are inside all advice";
		}
		if (isAdvised(bean) || (bean != null && this.beans.containsSingleton(REPLACEMENTS))) {
			return null;
		}
		if (Modifier.isFinal(type.getModifiers()) || type.isSealed()) {
			return "is one of a final class";
		}
		return (bean == null) ? null
				: "is one of a bean that was created too early for advice (a post-processor needs it)";
	}

	private static @Nullable String obstacleOf(Class<?> type, Method method, @Nullable Object interfaceProxy) {
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
			return "is private or static";
		}
		if (interfaceProxy != null) {
			return isDeclaredBy(interfaceProxy, type, method) ? null
					: "is in no interface of its bean, which is a proxy of its interfaces";
		}
		if (Modifier.isFinal(modifiers)) {
			return "is final";
		}
		return isVisibleIn(type, method) ? null
				: "is package-private in another package than the class of its bean, so a proxy cannot override it";
	}

	private static boolean isVisibleIn(Class<?> type, Method method) {
		return Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers())
				|| method.getDeclaringClass().getPackageName().equals(type.getPackageName());
	}

	private boolean isAdvised(@Nullable Object bean) {
		return bean instanceof Advised advised
				&& (Arrays.stream(advised.getAdvisors()).anyMatch(this.advisor::isInstance)
						|| isAdvised(AopProxyUtils.getSingletonTarget(bean)));
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
				|| Arrays.stream(type.getInterfaces()).anyMatch(AdviceReach::isRepository);
	}

}
