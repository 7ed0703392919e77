package plan

// circles numbers the steps. Steps that wait for each other, in a circle of orders, get the same number (Tarjan's
// strongly connected components).
func circles(all []*step, orders []order) map[*step]int {
	next := make(map[*step][]*step, len(all))
	for _, o := range orders {
		next[o.first] = append(next[o.first], o.then)
	}
	c := &circling{next: next, index: map[*step]int{}, low: map[*step]int{}, number: make(map[*step]int, len(all))}
	for _, s := range all {
		if c.index[s] == 0 {
			c.visit(s)
		}
	}
	return c.number
}

type circling struct {
	next       map[*step][]*step
	index, low map[*step]int // from 1
	stack      []*step
	number     map[*step]int // from 1; 0 while the step is on the stack
}

func (c *circling) visit(s *step) {
	c.index[s] = len(c.index) + 1
	c.low[s] = c.index[s]
	c.stack = append(c.stack, s)
	for _, then := range c.next[s] {
		switch {
		case c.index[then] == 0:
			c.visit(then)
			c.low[s] = min(c.low[s], c.low[then])
		case c.number[then] == 0:
			c.low[s] = min(c.low[s], c.index[then])
		}
	}
	if c.low[s] != c.index[s] {
		return
	}
	for {
		last := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		c.number[last] = c.index[s]
		if last == s {
			return
		}
	}
}

// possible removes the gaps of orders that form a circle: steps that wait for each other come in one phase.
func (p *planner) possible(orders []order) []order {
	number := circles(p.all, orders)
	all := make([]order, len(orders))
	for i, o := range orders {
		if number[o.first] == number[o.then] {
			o.gap = notBefore
		}
		all[i] = o
	}
	return all
}

// granting adds the wishes that do not form a circle with the orders.
func (p *planner) granting(orders, wishes []order) []order {
	number := circles(p.all, append(orders[:len(orders):len(orders)], wishes...))
	for _, w := range wishes {
		if number[w.first] != number[w.then] {
			orders = append(orders, w)
		}
	}
	return orders
}
