package dev.idempotent.advice;

import java.lang.annotation.Annotation;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;

/**
 * Checks at start-up that an annotation is valid on each method that has it, and that
 * calls of the method pass through its advice.
 */
public final class AnnotatedMethodsCheck {

	private static final Logger logger = LoggerFactory.getLogger(AnnotatedMethodsCheck.class);

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Annotation> annotation;

	private final List<AnnotatedMethodAdvisor<?>> advisors;

	private final ProxyEligibility eligibility;

	/**
	 * Creates a check.
	 * @param beans the beans of the application, with an {@link AdvisorBeanPostProcessor}
	 * for each advisor of the annotation
	 * @param annotation the annotation
	 */
	public AnnotatedMethodsCheck(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation) {
		this.beans = beans;
		this.annotation = annotation;
		this.advisors = beans.getBeansOfType(AdvisorBeanPostProcessor.class)
			.values()
			.stream()
			.map(AdvisorBeanPostProcessor::advisor)
			.filter(AnnotatedMethodAdvisor.class::isInstance)
			.<AnnotatedMethodAdvisor<?>>map((advisor) -> (AnnotatedMethodAdvisor<?>) advisor)
			.filter((advisor) -> advisor.annotation() == annotation)
			.toList();
		this.eligibility = new ProxyEligibility(beans, annotation);
		Assert.state(!this.advisors.isEmpty(), () -> "No AdvisorBeanPostProcessor has an advisor of " + annotation);
	}

	/**
	 * Checks the methods of all beans, created or not.
	 * @return the annotated methods that are advised, once for each bean
	 * @throws IdempotentConfigurationException if an annotation is invalid, or would have
	 * no effect
	 */
	public List<AnnotatedMethod> check() {
		List<AnnotatedMethod> found = new ArrayList<>();
		check((bean, method) -> found.add(method));
		return found;
	}

	/**
	 * Checks the methods of all beans, created or not.
	 * @param found gets the annotated methods that are advised, with the names of their
	 * beans
	 * @throws IdempotentConfigurationException if an annotation is invalid, or would have
	 * no effect
	 */
	public void check(BiConsumer<String, AnnotatedMethod> found) {
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			if (!isScopedProxy(name)) {
				for (AnnotatedMethod method : AnnotatedMethod.findAll(this.annotation, typeOf(name))) {
					if (isAdvised(name, method)) {
						found.accept(name, method);
					}
				}
			}
		}
	}

	/**
	 * The target of a proxy that the application has created itself is known when the
	 * bean is.
	 */
	private @Nullable Class<?> typeOf(String beanName) {
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, beanName);
		if (type == null || !Proxy.isProxyClass(type)) {
			return type;
		}
		Object bean = this.eligibility.beanOf(beanName);
		return (bean != null) ? AopProxyUtils.ultimateTargetClass(bean) : type;
	}

	private boolean isAdvised(String beanName, AnnotatedMethod method) {
		for (AnnotatedMethodAdvisor<?> advisor : this.advisors) {
			if (advisor.matches(method.method(), method.type())) {
				check(beanName, method, advisor);
				return true;
			}
		}
		return false;
	}

	private void check(String beanName, AnnotatedMethod method, AnnotatedMethodAdvisor<?> advisor) {
		String obstacle = this.eligibility.obstacle(beanName, method.type(), method.method());
		if (obstacle != null) {
			Class<?> alternative = advisor.alternative();
			throw method.invalid(obstacle + ", so it cannot be advised",
					"Annotate a method of another bean that Spring can proxy"
							+ ((alternative != null) ? ", or use " + alternative.getSimpleName() + " in code." : "."),
					null);
		}
		if (advisor.isInnermost() && this.eligibility.isOvertaken(beanName, method.method(), advisor)) {
			throw method.invalid(AnnotatedMethodAdvisor.OVERTAKEN, AnnotatedMethodAdvisor.OVERTAKEN_ACTION, null);
		}
		advisor.attributesOf(method);
		if (this.eligibility.mayBeBypassed(beanName, method.method())) {
			logger.warn(
					"The @{} method {} is called by its container, and its bean is part of a circular reference: "
							+ "where Spring injects the bean before it is proxied, the annotation has no effect. "
							+ "Break the cycle, for example with @Lazy",
					this.annotation.getSimpleName(), method.describe());
		}
	}

	/**
	 * The target bean of a scoped proxy is checked itself.
	 */
	private boolean isScopedProxy(String name) {
		return this.beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
	}

}
