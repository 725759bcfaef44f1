package dev.idempotent.aop;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Refuses beans with listener methods that were not found at start-up, because the class
 * of the bean was not known then: nothing would call them.
 */
public final class LateListeners implements BeanPostProcessor, SmartInitializingSingleton {

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Annotation> annotation;

	/**
	 * A method of each bean that has been created before the listeners were known.
	 */
	private final Map<String, AnnotatedMethod> created = new ConcurrentHashMap<>();

	/**
	 * The names of the beans whose listeners were found.
	 */
	private volatile @Nullable Set<String> known;

	/**
	 * Creates a post-processor.
	 * @param beans the beans of the application
	 * @param annotation the annotation of the listeners
	 */
	public LateListeners(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation) {
		this.beans = beans;
		this.annotation = annotation;
	}

	@Override
	public void afterSingletonsInstantiated() {
		Set<String> found = ListenerMethod.findAll(this.beans, this.annotation)
			.stream()
			.map((listener) -> AnnotatedMethodsCheck.displayName(listener.bean()))
			.collect(Collectors.toSet());
		this.known = found;
		this.created.forEach((bean, method) -> requireKnown(bean, method, found));
		this.created.clear();
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		List<AnnotatedMethod> methods = isOfContext(bean, beanName)
				? AnnotatedMethod.findAll(this.annotation, AnnotatedMethodsCheck.targetClass(bean)) : List.of();
		if (!methods.isEmpty()) {
			String name = AnnotatedMethodsCheck.displayName(beanName);
			Set<String> found = this.known;
			if (found == null) {
				this.created.put(name, methods.get(0));
			}
			else {
				requireKnown(name, methods.get(0), found);
			}
		}
		return bean;
	}

	private static boolean isOfContext(Object bean, String beanName) {
		return !(bean instanceof AopInfrastructureBean)
				&& !beanName.endsWith(AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX);
	}

	/**
	 * Requires that the start has found the listeners of a bean.
	 * @throws IdempotentConfigurationException if it has not
	 */
	private static void requireKnown(String bean, AnnotatedMethod method, Set<String> known) {
		if (!known.contains(bean)) {
			throw method.invalid(
					"belongs to the bean '" + bean
							+ "', whose class the start did not know, so it would receive nothing",
					"Declare the class as the return type of its @Bean method, or create the bean at the start (without "
							+ "@Lazy).",
					null);
		}
	}

}
