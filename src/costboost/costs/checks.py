"""Moved; kept until all callers follow."""

from costboost.costs.forms import as_floats as as_floats
from costboost.costs.forms import check_finite as check_finite
from costboost.costs.forms import is_frame as is_frame
from costboost.costs.labels import nearest as nearest
from costboost.costs.labels import parameter as parameter
