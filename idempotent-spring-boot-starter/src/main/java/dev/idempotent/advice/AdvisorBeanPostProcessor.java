package dev.idempotent.advice;

import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AdvisedSupport;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Adds an advisor to the beans that it applies to, in its place. Comes after the creator
 * of automatic proxies, whose work it adds to, and before the post-processors that give
 * beans to listener containers or hand calls to other threads, which so stay outside.
 */
public final class AdvisorBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor
		implements SmartInstantiationAwareBeanPostProcessor {

	private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

	private static final String SECURITY = "org.springframework.security.";

	private final Advisor placed;

	private final AdvicePlacement placement;

	private final Map<String, Object> earlyTargets = new ConcurrentHashMap<>();

	/**
	 * Creates a post-processor.
	 * @param advisor what to add; its pointcut says to which beans
	 * @param placement where to add it
	 */
	public AdvisorBeanPostProcessor(Advisor advisor, AdvicePlacement placement) {
		this.advisor = advisor;
		this.placed = advisor;
		this.placement = placement;
		setOrder(ORDER);
	}

	/**
	 * A bean in a circle is handed out before it is initialised: with all its advice, or
	 * it would lose it.
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

	private Object place(Object bean, String beanName) {
		if (isPlaced(bean)) {
			return bean;
		}
		if (bean instanceof Advised advised && !(bean instanceof AopInfrastructureBean) && !advised.isFrozen()
				&& isEligible(AopUtils.getTargetClass(bean))) {
			advised.addAdvisor(indexIn(advised), this.placed);
			return bean;
		}
		return canBeExtended(bean.getClass()) ? super.postProcessAfterInitialization(bean, beanName) : bean;
	}

	/**
	 * One object may be several beans, and its proxy have a proxy before it.
	 */
	private boolean isPlaced(Object bean) {
		Object each = bean;
		while (each instanceof Advised advised && advised.indexOf(this.placed) < 0) {
			each = AopProxyUtils.getSingletonTarget(each);
		}
		return each instanceof Advised;
	}

	/**
	 * Whoever has placed an advisor says in his own words that it had no place.
	 */
	private static boolean canBeExtended(Class<?> type) {
		return !Modifier.isFinal(type.getModifiers()) && !type.isSealed();
	}

	private int indexIn(Advised advised) {
		Advisor[] advisors = advised.getAdvisors();
		int end = advisors.length;
		if (end > 0 && advised.getTargetSource() == AdvisedSupport.EMPTY_TARGET_SOURCE) {
			// The last one is what the bean does.
			end--;
		}
		if (this.placement == AdvicePlacement.INNERMOST) {
			return end;
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

	private static Object targetOf(Object bean) {
		Object target = AopProxyUtils.getSingletonTarget(bean);
		return (target != null) ? target : bean;
	}

}
