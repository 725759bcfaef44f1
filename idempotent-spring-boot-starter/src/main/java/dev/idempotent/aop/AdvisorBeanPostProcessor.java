package dev.idempotent.aop;

import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AdvisedSupport;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Adds an advisor to the beans that it applies to, at the right position among their
 * other advice. Runs after the auto-proxy creator, whose proxies it adds to, and before
 * the post-processors that register listener methods or run calls on other threads, whose
 * advice therefore stays outside.
 */
public final class AdvisorBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor {

	private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private static final String SECURITY = "org.springframework.security.";

	private final Advisor placed;

	private final Placement placement;

	private final Predicate<Class<?>> createsProxy;

	private final Map<String, Object> earlyTargets = new ConcurrentHashMap<>();

	private @Nullable ConfigurableListableBeanFactory beans;

	/**
	 * Creates a post-processor.
	 * @param advisor the advisor to add
	 * @param placement where to add it
	 */
	public AdvisorBeanPostProcessor(AnnotatedMethodAdvisor<?> advisor, Placement placement) {
		this(advisor, placement, (type) -> true);
	}

	/**
	 * Creates a post-processor that adds the advisor to all proxies, and creates missing
	 * ones only if told to.
	 * @param advisor the advisor to add
	 * @param placement where to add it
	 * @param createsProxy whether to create a proxy for a bean of a class that has none
	 */
	public AdvisorBeanPostProcessor(Advisor advisor, Placement placement, Predicate<Class<?>> createsProxy) {
		this.advisor = advisor;
		this.placed = advisor;
		this.placement = placement;
		this.createsProxy = createsProxy;
		setOrder(ORDER);
	}

	@Override
	public void setBeanFactory(BeanFactory beanFactory) {
		super.setBeanFactory(beanFactory);
		this.beans = (beanFactory instanceof ConfigurableListableBeanFactory listable) ? listable : null;
	}

	/**
	 * Advises a bean in a circular reference before it is initialized: where it is
	 * injected early, it needs all of its advice.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String beanName) {
		this.earlyTargets.put(beanName, targetOf(bean));
		return place(bean, beanName);
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (this.earlyTargets.remove(beanName) == targetOf(bean)) ? bean : place(bean, beanName);
	}

	@Override
	public Class<?> determineBeanType(Class<?> beanType, String beanName) {
		return createsProxy(beanType) ? super.determineBeanType(beanType, beanName) : beanType;
	}

	Advisor advisor() {
		return this.placed;
	}

	private Object place(Object bean, String beanName) {
		if (isPlaced(bean)) {
			return bean;
		}
		AnnotatedMethodAdvisor<?> annotated = (this.placed instanceof AnnotatedMethodAdvisor<?> advisor
				&& !(bean instanceof AopInfrastructureBean)
				&& !beanName.endsWith(AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX)) ? advisor : null;
		if (annotated != null) {
			annotated.placing(AnnotatedMethodsCheck.displayName(beanName), AnnotatedMethodsCheck.withoutProxies(bean),
					annotated.methodsOf(bean));
		}
		Object advised = advise(bean, beanName);
		if (annotated != null && this.beans != null) {
			AnnotatedMethodsCheck.requireAdvised(this.beans, annotated, advised);
		}
		return advised;
	}

	private Object advise(Object bean, String beanName) {
		if (bean instanceof Advised advised && !(bean instanceof AopInfrastructureBean) && !advised.isFrozen()
				&& isEligible(AopUtils.getTargetClass(bean))) {
			advised.addAdvisor(indexIn(advised), this.placed);
			return bean;
		}
		return createsProxy(bean.getClass()) ? super.postProcessAfterInitialization(bean, beanName) : bean;
	}

	/**
	 * The same object may be registered as several beans, and its proxy may be the target
	 * of another proxy.
	 */
	private boolean isPlaced(Object bean) {
		Object each = bean;
		while (each instanceof Advised advised && advised.indexOf(this.placed) < 0) {
			each = AopProxyUtils.getSingletonTarget(each);
		}
		return each instanceof Advised;
	}

	/**
	 * {@link AnnotatedMethodsCheck} refuses beans that cannot be proxied.
	 */
	private boolean createsProxy(Class<?> type) {
		return !Modifier.isFinal(type.getModifiers()) && !type.isSealed() && this.createsProxy.test(type);
	}

	private int indexIn(Advised advised) {
		Advisor[] advisors = advised.getAdvisors();
		int end = end(advised);
		if (this.placement == Placement.OUTERMOST) {
			return 0;
		}
		if (this.placement == Placement.INNERMOST) {
			return end;
		}
		if (this.placement == Placement.INSIDE_APPLICATION) {
			return insideApplication(advised);
		}
		int transaction = end;
		int security = 0;
		for (int i = end - 1; i >= 0; i--) {
			if (advisors[i].getAdvice() instanceof TransactionInterceptor) {
				transaction = i;
			}
			if (security == 0 && advisors[i].getAdvice().getClass().getName().startsWith(SECURITY)) {
				security = i + 1;
			}
		}
		return Math.max(transaction, security);
	}

	/**
	 * Without a target, the last advice implements the methods of the bean.
	 */
	private static int end(Advised advised) {
		int count = advised.getAdvisors().length;
		return (count > 0 && advised.getTargetSource() == AdvisedSupport.EMPTY_TARGET_SOURCE) ? count - 1 : count;
	}

	/**
	 * Bean validation repeats no call and hides no exception.
	 */
	static int insideApplication(Advised advised) {
		Advisor[] advisors = advised.getAdvisors();
		int end = end(advised);
		int index = end;
		for (int i = end - 1; i >= 0; i--) {
			if (advisors[i] instanceof AnnotatedMethodAdvisor<?>) {
				index = i;
			}
			else if (!advisors[i].getAdvice().getClass().getName().startsWith(InnermostAdvice.VALIDATION)) {
				break;
			}
		}
		return index;
	}

	private static Object targetOf(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return (target != null) ? target : bean;
	}

	/**
	 * The position of an advisor among the other advice of a bean.
	 */
	public enum Placement {

		/**
		 * Directly outside the transaction, so that it sees the commit, but never outside
		 * method security. Innermost if the bean has no transactional advice.
		 */
		AROUND_TRANSACTION,

		/**
		 * Outside all other advice.
		 */
		OUTERMOST,

		/**
		 * Inside the advice of the application, and outside the advice of this library.
		 */
		INSIDE_APPLICATION,

		/**
		 * Next to the bean's own method, within its transaction.
		 */
		INNERMOST

	}

}
