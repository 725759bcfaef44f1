package dev.idempotent.advice;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.ClassUtils;

/**
 * The beans of an application that have annotated methods, be they created or not.
 */
public final class AnnotatedBeans {

	private final ConfigurableListableBeanFactory beans;

	private final Class<? extends Annotation> annotation;

	/**
	 * Creates a view.
	 * @param beans the application
	 * @param annotation what methods have, on themselves or on another annotation
	 */
	public AnnotatedBeans(ConfigurableListableBeanFactory beans, Class<? extends Annotation> annotation) {
		this.beans = beans;
		this.annotation = annotation;
	}

	/**
	 * Shows each bean that has such methods.
	 * @param visitor is shown them
	 */
	public void visit(Visitor visitor) {
		for (String name : this.beans.getBeanNamesForType(Object.class, true, false)) {
			for (Class<?> type : isScopedProxy(name) ? List.<Class<?>>of() : typesOf(name)) {
				if (AnnotationUtils.isCandidateClass(type, this.annotation)) {
					Set<Method> annotated = MethodIntrospector.selectMethods(type, this::isAnnotated);
					if (!annotated.isEmpty()) {
						visitor.visit(name, type, annotated);
					}
				}
			}
		}
	}

	private boolean isAnnotated(Method method) {
		return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.isPresent(this.annotation);
	}

	/**
	 * A proxy with nothing behind it is what its interfaces say.
	 */
	private List<Class<?>> typesOf(String name) {
		Class<?> type = AutoProxyUtils.determineTargetClass(this.beans, name);
		if (type == null) {
			return List.of();
		}
		return Proxy.isProxyClass(type) ? List.of(type.getInterfaces()) : List.of(ClassUtils.getUserClass(type));
	}

	/**
	 * The beans behind it are checked themselves.
	 */
	private boolean isScopedProxy(String name) {
		return this.beans.containsBeanDefinition(ScopedProxyUtils.getTargetBeanName(name));
	}

	/**
	 * Is shown beans.
	 */
	public interface Visitor {

		/**
		 * Is shown a bean.
		 * @param name its name
		 * @param type its class, or an interface that it is known by
		 * @param annotated its annotated methods, at least one
		 */
		void visit(String name, Class<?> type, Set<Method> annotated);

	}

}
